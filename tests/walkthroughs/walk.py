"""Goes through a page like a reader: writes its files and runs its commands, in order."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.cli.conftest import end
from tests.docs.reading import Block, shell_lines

SETTINGS_PORT = "127.0.0.1:7777"  # as pages write it; each walk has a port of its own
COMMAND_WITHIN = 240.0  # seconds
SECRETS = {
    "CI_TOKEN": "a-token-of-the-walk",
    "GITHUB_WEBHOOK": "a-secret-of-the-walk",
    "SHOP_SECRET": "another-secret-of-the-walk",
}
LEFT_OUT = ("pip install", "wakeful models", ". .venv/", "make ")  # each has a test of its own


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Walk:
    """A reader with a shell in a folder, and a daemon in a second one."""

    def __init__(self, start: Path, bin: Path, env: Mapping[str, str] | None = None) -> None:
        self.here, self.bind = start, f"127.0.0.1:{free_port()}"
        self.outputs: dict[str, str] = {}
        self._daemon: subprocess.Popen[str] | None = None
        given = {key: value for key, value in os.environ.items() if key not in ("CI", "PYTHONPATH")}
        self._env = {
            **given,
            "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
            "WAKEFUL_SERVER__BIND": self.bind,
            **SECRETS,
            **(env or {}),
        }

    def __enter__(self) -> Walk:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def follow(self, blocks: Iterable[Block], *, files: Iterable[str]) -> None:
        """All blocks in their order; of the files only these, since some need a real model."""
        wanted = set(files)
        for block in blocks:
            if block.path in wanted:
                self.write(block.path, block.text)
            elif block.language == "sh":
                for line in shell_lines(block):
                    self.step(line)

    def write(self, path: str, text: str) -> None:
        to = self.here / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)

    def step(self, line: str) -> None:
        """One line of the shell."""
        line = re.sub(" +", " ", line)
        if line.startswith(LEFT_OUT):
            return
        if line.startswith("cd "):
            self.here = self.here / shlex.split(line)[1]
        elif line == "wakeful run":
            self.start()
        else:
            if line.startswith("curl"):
                self.start()  # the page says so: the new channel's secret is in its environment
            self.outputs[line] = self.shell(line.replace(SETTINGS_PORT, self.bind))

    def shell(self, line: str) -> str:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.here,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_WITHIN,
        )
        assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self) -> None:
        """The daemon in the second shell, until it says that it is awake."""
        self.stop()
        log = (self.here / "daemon.log").open("a")
        self._daemon = subprocess.Popen(
            ["wakeful", "run"],
            cwd=self.here,
            env=self._env,
            executable=self._which("wakeful"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        log.close()
        assert self._daemon.stdout is not None
        first = self._daemon.stdout.readline()
        assert "awake at" in first, (self.here / "daemon.log").read_text()[-3000:]

    def stop(self) -> None:
        if self._daemon is not None:
            ending, self._daemon = self._daemon, None
            end(ending)

    def _which(self, name: str) -> str:
        import shutil

        found = shutil.which(name, path=self._env["PATH"])
        assert found, f"no {name} on the PATH"
        return found
