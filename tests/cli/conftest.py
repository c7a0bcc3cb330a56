"""An agent folder, the command line as a person calls it, and a daemon that really runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from wakeful.cli.init import planned

STOP_WITHIN = 60.0  # seconds
ASKING = '''
from wakeful.tool import tool


@tool(effect="once", approve="always")
def refund(order: str) -> str:
    """Give a customer money back.

    Args:
        order: the number of the order.
    """
    return f"refunded {order}"
'''
SCRIPT = """
[[turn]]
when = '(?i)refund (?P<order>\\S+)'
steps = [{ call = "refund", args = { order = "{order}" } }, { say = "It is done: {result}." }]

[[turn]]  # slow enough for whoever wants to watch from the first step on
when = '(?i)think about (?P<day>[0-9-]+)'
steps = [{ wait = 2, call = "days_until", args = { day = "{day}" } }, { say = "{result}." }]

[[turn]]
when = '(?i)think about (?P<topic>tea)'
steps = [
  { wait = 2, task = "researcher", ask = "Look up {topic}." },
  { say = "My researcher says: {result}" },
]

"""


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        import json

        return json.loads(self.out)


class Cli:
    """Runs `wakeful` in a folder, as a process of its own."""

    def __init__(self, cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self.cwd, self.env = cwd, {**os.environ, **(env or {})}

    def __call__(
        self, *words: str, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "wakeful", *words],
            cwd=self.cwd,
            env={**self.env, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return Result(done.returncode, done.stdout, done.stderr)


def write_agent(home: Path) -> Path:
    """What `init` writes, with a tool that asks first."""
    for path, text in planned(home).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / "tools" / "refunds.py").write_text(ASKING)
    script = home / "rehearsal.toml"
    script.write_text(SCRIPT + script.read_text())
    return home


@contextmanager
def running(home: Path) -> Iterator[subprocess.Popen[str]]:
    """`wakeful run` on a port of its own, from the line that says so to its end."""
    with (home.parent / "daemon.log").open("a") as log:
        daemon = subprocess.Popen(
            [sys.executable, "-m", "wakeful", "run", str(home)],
            env={**os.environ, "WAKEFUL_SERVER__BIND": "127.0.0.1:0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert daemon.stdout is not None
        first = daemon.stdout.readline()
        assert "awake at" in first, (home.parent / "daemon.log").read_text()[-3000:]
        yield daemon
    finally:
        end(daemon)


def end(daemon: subprocess.Popen[str]) -> None:
    """Ask it to stop and wait until it has; one that does not is killed, and that is a failure."""
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.communicate(timeout=STOP_WITHIN)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.communicate()
        raise


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write_agent(tmp_path / "my-agent")


@pytest.fixture
def cli(home: Path) -> Cli:
    return Cli(home)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """The command line beside a daemon that is up."""
    home = write_agent(tmp_path_factory.mktemp("live") / "my-agent")
    with running(home):
        yield Cli(home)
