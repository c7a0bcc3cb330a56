"""Many at once and many in a row, in one real process: locks, memory, descriptors, restarts."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import monotonic

import httpx
import pytest

from tests.acceptance.stage import Stage

PEOPLE = 30
MESSAGES = 8  # of each
SESSIONS = int(os.environ.get("WAKEFUL_SESSIONS", "2400"))
AT_ONCE = 20
ROOM = 4.0  # kB for each session of the last third; one that is remembered for ever takes 7
HELD = 0.3  # seconds for which an outsider holds the write lock, and then does not
DYING = """
import os, time
from contextlib import asynccontextmanager

from pydantic import BaseModel
from wakeful.errors import RetryLater
from wakeful.events import Health


class Settings(BaseModel):
    notes: str


class Dying:
    async def probe(self):
        return Health(True)

    async def send(self, reply):
        raise RetryLater("never here long enough")


@asynccontextmanager
async def open(settings, host):
    with __builtins__["open"](settings.notes, "a") as notes:
        notes.write(f"{time.monotonic()}\\n")
    raise ConnectionError("gone at once")
    yield Dying()
"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("crowd") / "root") as stage:
        channels = stage.folder / "channels"
        (channels / "dying.py").write_text(DYING)
        (channels / "dying.toml").write_text(f"notes = {json.dumps(str(stage.root / 'opened'))}\n")
        stage.daemon.start()
        yield stage


def test_D8_thirty_writers_readers_beside_them_and_an_outsider_meet_no_locked_database(
    stage: Stage,
) -> None:
    over = threading.Event()
    with ThreadPoolExecutor(PEOPLE + 2) as pool, ExitStack() as stack:
        stack.callback(over.set)
        beside = [pool.submit(work, stage, over) for work in (_read, _hold_the_lock)]
        told = [event for sent in pool.map(partial(_talk, stage), range(PEOPLE)) for event in sent]
        stage.drain()
        over.set()
        reads, holds = (one.result() for one in beside)
    assert min(reads, holds) >= 2
    assert len(set(told)) == PEOPLE * MESSAGES
    ended = "SELECT count(*) FROM inbox WHERE state = 'done' AND thread_key LIKE 'console/d8-%'"
    assert stage.rows(ended) == [(PEOPLE * MESSAGES,)]
    assert "locked" not in stage.daemon.log
    assert "Traceback" not in stage.daemon.log


def _talk(stage: Stage, person: int) -> list[int]:
    with stage.daemon.client() as client:
        return [
            _post(client, f"console/d8-{person}", f"plain {person * 100 + n}")
            for n in range(MESSAGES)
        ]


def _post(client: httpx.Client, thread: str, text: str) -> int:
    answer = client.post("/api/messages", json={"thread": thread, "text": text})
    return int(answer.raise_for_status().json()["event"])


def _read(stage: Stage, over: threading.Event) -> int:
    """Commands that read the store themselves, as they do when they find no daemon."""
    env = {**os.environ, **stage.env()}
    script = (
        "import asyncio, sys; from wakeful.store import open_reader\n"
        "async def look():\n"
        "    async with open_reader(sys.argv[1]) as view:\n"
        "        print(len(await view.threads(limit=500)))\n"
        "asyncio.run(look())"
    )
    url = f"sqlite:///{stage.folder}/.wakeful/state.db"
    command = [sys.executable, "-c", script, url]
    return _until(over, lambda: subprocess.run(command, env=env, check=True, capture_output=True))


def _hold_the_lock(stage: Stage, over: threading.Event) -> int:
    """A backup or a curious person: holds the write lock for a while, then writes nothing."""
    store = stage.folder / ".wakeful" / "state.db"

    def hold() -> None:
        with closing(sqlite3.connect(store, timeout=30, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            over.wait(HELD)
            other.execute("ROLLBACK")

    return _until(over, hold)


def _until(over: threading.Event, work: Callable[[], object]) -> int:
    times = 0
    while not over.wait(HELD) or times < 2:
        work()
        times += 1
    return times


def test_P5_many_sessions_leave_memory_descriptors_and_bytes_each_as_they_were(
    stage: Stage,
) -> None:
    third = SESSIONS // 3
    assert stage.daemon.process is not None
    proc = Path(f"/proc/{stage.daemon.process.pid}")
    if not proc.exists():
        pytest.skip("memory and descriptors are read from /proc")
    found = []
    for start in range(0, third * 3, third):
        begin = _bytes(stage)
        _sessions(stage, range(start, start + third))
        found.append((_memory(proc), len(list((proc / "fd").iterdir())), _bytes(stage) - begin))
    memory, descriptors, grown = zip(*found, strict=True)
    print("P5", SESSIONS, found)
    assert memory[-1] - memory[-2] < ROOM * third
    assert descriptors[-1] <= descriptors[0] + 5
    assert grown[-1] <= 1.3 * grown[0]


def _sessions(stage: Stage, numbers: range) -> None:
    """A new thread each; some at a time, as many as come in while others are answered."""
    with stage.daemon.client() as client:
        for start in range(numbers.start, numbers.stop, AT_ONCE):
            few = range(start, min(start + AT_ONCE, numbers.stop))
            posted = [_post(client, f"console/p5-{n}", f"plain {n}") for n in few]
            _ended(client, posted[-1])
    stage.drain()


def _ended(client: httpx.Client, event: int) -> None:
    with client.stream("GET", f"/api/events/{event}/stream") as stream:
        for _ in stream.iter_lines():
            pass


def _memory(proc: Path) -> int:
    status = (proc / "status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def _bytes(stage: Stage) -> int:
    [(pages,)], [(size,)] = stage.rows("PRAGMA page_count"), stage.rows("PRAGMA page_size")
    return int(pages) * int(size)


def test_P16_a_channel_that_dies_at_once_is_opened_ever_more_rarely(stage: Stage) -> None:
    notes, end, tick = stage.root / "opened", monotonic() + 30, threading.Event()
    while len(times := [float(line) for line in notes.read_text().splitlines()]) < 4:
        assert monotonic() < end
        tick.wait(0.1)
    gaps = [after - before for before, after in pairwise(times)]
    assert all(after > 1.2 * before for before, after in pairwise(gaps)), gaps
    status = stage.daemon.get("/api/status")["channels"]
    assert "gone at once" in status["dying"]["error"]
    assert {status[name]["state"] for name in ("console", "load", "sink")} == {"open"}
    told = [line for line in stage.daemon.log.splitlines() if "gone at once" in line]
    assert len(told) <= len(times) + 1


def test_P6_after_thousands_of_threads_a_message_takes_no_longer(stage: Stage) -> None:
    """Measured against what the same process does for a thread of its first hundred."""
    with stage.daemon.client() as client:
        for _ in range(5):
            _ended(client, _post(client, "console/p6", "plain 1"))
        old = [_answered(client, f"console/d8-{n}") for n in range(PEOPLE)]
        new = [_answered(client, f"console/p6-{n}") for n in range(PEOPLE)]
    print("P6", median(old), median(new))
    assert median(new) <= 2 * median(old)


def _answered(client: httpx.Client, thread: str) -> float:
    begin = monotonic()
    _ended(client, _post(client, thread, "plain 2"))
    return monotonic() - begin
