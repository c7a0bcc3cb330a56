"""Processes that a benchmark starts, and what they cost."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

TICK = 1000 / os.sysconf("SC_CLK_TCK")  # milliseconds
SETTLED_WITHIN = 300.0  # seconds
POLL = 0.02  # seconds between two looks at what another process is doing


def cpu_ms(pid: int) -> float:
    """User and system time of a process and its threads, in milliseconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def written_bytes(pid: int) -> int:
    """What a process has written to files so far; sockets do not count."""
    rows = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("wchar:"))


@contextmanager
def python(*arguments: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """A Python process that ends with the block; its first line of output is its port."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@dataclass(frozen=True)
class Daemon:
    """A running `wakeful run` on a folder of the benchmark's own."""

    pid: int
    client: httpx.Client
    store: Path
    port: int
    token: str

    def post(self, thread: str, text: str) -> int:
        answer = self.client.post("/api/messages", json={"thread": thread, "text": text})
        answer.raise_for_status()
        return int(answer.json()["event"])

    def open_runs(self) -> int:
        """How many threads have something to run; read beside the daemon, at no cost to it."""
        return self._count("thread WHERE state IN ('ready', 'running')")

    def open_events(self) -> int:
        """How many events and replies are not ended yet."""
        unsent = self._count("outbox WHERE state IN ('queued', 'sending')")
        return self._count("inbox WHERE state = 'queued'") + unsent

    def _count(self, rows: str) -> int:
        with closing(
            sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=30)
        ) as database:
            return int(database.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])

    def settle(self) -> None:
        """Wait until everything has ended and was delivered."""
        self._wait_until(lambda: not self.open_events())

    def rest(self, held: int) -> None:
        """Wait until only so many threads have something to run."""
        self._wait_until(lambda: self.open_runs() <= held)

    def _wait_until(self, reached: Callable[[], bool]) -> None:
        end = time.monotonic() + SETTLED_WITHIN
        while not reached():
            if time.monotonic() > end:
                raise TimeoutError(f"events are still open after {SETTLED_WITHIN:.0f} s")
            time.sleep(POLL)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def daemon(folder: Path, settings: str) -> Iterator[Daemon]:
    """Wakeful on a new agent folder; `settings` is its agent.toml."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.toml").write_text(settings)
    (folder / "AGENTS.md").write_text("You are helpful.\n")
    port = free_port()
    env = {"WAKEFUL_SERVER__BIND": f"127.0.0.1:{port}"}
    log = (folder.parent / f"{folder.name}.log").open("ab")
    process = subprocess.Popen(
        [sys.executable, "-m", "wakeful", "run", str(folder)],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_ready(url, process)
        token = (folder / ".wakeful" / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
            yield Daemon(process.pid, client, folder / ".wakeful" / "state.db", port, token)
    finally:
        process.terminate()
        process.wait(60)
        log.close()


def wait_ready(url: str, process: subprocess.Popen[bytes], within: float = 60) -> None:
    end = time.monotonic() + within
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"wakeful ended with {process.returncode} before it was ready")
        try:
            if httpx.get(f"{url}/ready", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            continue  # not listening yet
        finally:
            time.sleep(POLL)
    raise TimeoutError(f"wakeful was not ready after {within:.0f} s")
