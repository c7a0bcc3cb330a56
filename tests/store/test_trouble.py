"""Second daemons, damaged files, foreign disks, deleted logs: one sentence each, nothing lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.store.conftest import HandClock, answer, event
from wakeful.errors import StoreBroken, StoreBusy, StoreReadOnly
from wakeful.events import Accepted, Done
from wakeful.store import holder, open_reader, open_store
from wakeful.store.connect import connect
from wakeful.store.places import FOREIGN, filesystem, refuse_foreign

HOLD = """
import sys, time
from pathlib import Path
from wakeful.store.lock import hold_lock
with hold_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other_daemon(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the store."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "state.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


async def test_a_second_daemon_is_refused_with_the_first_ones_number(
    other_daemon: subprocess.Popen[str], sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    with pytest.raises(StoreBusy, match=rf"\(process {other_daemon.pid}\) holds .*state\.db"):
        async with open_store(sqlite_url, clock=clock, owner="test"):
            pass
    assert holder(tmp_path / "state.db") == other_daemon.pid


async def test_D17_a_killed_daemon_leaves_no_lock_whatever_its_age(
    other_daemon: subprocess.Popen[str], sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    other_daemon.send_signal(signal.SIGKILL)
    other_daemon.wait()
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(event("1"))
        assert holder(tmp_path / "state.db") == os.getpid()
    assert holder(tmp_path / "state.db") is None


async def test_D11_a_damaged_page_is_found_before_anything_is_written(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        for n in range(300):
            await store.accept(event(str(n)))
    path = tmp_path / "state.db"
    _damage(path)
    before = path.read_bytes()
    with pytest.raises(StoreBroken, match=r"state\.db is damaged .*restore the last backup"):
        async with open_store(sqlite_url, clock=clock, owner="test"):
            pass
    assert path.read_bytes() == before
    assert sorted(one.name for one in os.scandir(tmp_path) if one.name.endswith(".db")) == [
        "state.db"
    ]  # no new one beside


def _damage(path: Path) -> None:
    """Spoil every page of the events' table but the first."""
    with sqlite3.connect(path) as line:
        [(root,)] = line.execute("SELECT rootpage FROM sqlite_master WHERE name = 'inbox'")
    line.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\x05\xff\xff\xff" * 512)


async def test_D12_a_deleted_log_stops_the_writer_and_loses_nothing(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(event("1"))
        (tmp_path / "state.db-wal").unlink()
        for name in ("2", "3"):
            with pytest.raises(StoreBroken, match=r"state\.db-wal was deleted .* Restart"):
                await store.accept(event(name))
        with pytest.raises(StoreBroken):
            await store.heartbeat()
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        assert [row["text"] for row in await store.view.runs()] == ["1"]


async def test_D12_replies_on_their_way_are_doubtful_after_a_stop(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(event("1"))
        [claim] = await store.claim(1)
        await store.finish(claim, Done(replies=(answer(),)))
        (tmp_path / "state.db-wal").unlink()
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        assert [reply.text for reply in await store.doubtful()] == ["yes"]


async def test_a_store_is_closed_to_the_end_even_when_its_owner_is_cancelled(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    opened = asyncio.Event()
    writing: list[asyncio.Future[Accepted]] = []

    async def daemon() -> None:
        async with open_store(sqlite_url, clock=clock, owner="test") as store:
            writing.extend(asyncio.ensure_future(store.accept(event(str(n)))) for n in range(500))
            await asyncio.sleep(0)
            opened.set()

    running = asyncio.ensure_future(daemon())
    await opened.wait()
    running.cancel()
    await asyncio.wait([running])
    assert holder(tmp_path / "state.db") is None
    assert {one.result().seq for one in writing} == set(range(1, 501))


async def test_D12_a_replaced_database_stops_the_writer(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(event("1"))
        path = tmp_path / "state.db"
        path.rename(tmp_path / "away.db")
        path.write_bytes(b"")
        with pytest.raises(StoreBroken, match=r"state\.db was replaced under the running daemon"):
            await store.accept(event("2"))


async def test_D12_another_program_that_opens_and_closes_it_does_no_harm(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    look = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1])"
        ".execute('SELECT * FROM inbox').fetchall()"
    )
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        for n in range(3):
            await store.accept(event(str(n)))
            subprocess.run(  # noqa: ASYNC221
                [sys.executable, "-c", look, str(tmp_path / "state.db")], check=True
            )
        assert len(await store.view.runs()) == 3


@pytest.mark.parametrize(("magic", "name"), sorted(FOREIGN.items()))
def test_D13_a_network_file_system_is_refused(tmp_path: Path, magic: int, name: str) -> None:
    with pytest.raises(StoreBroken, match="put the store on a local disk") as caught:
        refuse_foreign(tmp_path, kind=lambda _: magic)
    assert name in str(caught.value)


def test_D13_the_kernel_tells_what_a_folder_is_on(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("statfs's magic numbers are Linux's")
    told = subprocess.run(
        ["stat", "-f", "-c", "%t", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert filesystem(tmp_path) == int(told.stdout, 16)
    assert filesystem(tmp_path / "missing") is None


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, clock: HandClock) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreReadOnly, match="cannot be made"):
        async with open_store(f"sqlite:///{tmp_path}/file/x/state.db", clock=clock, owner="test"):
            pass


async def test_an_unknown_kind_of_store_is_named(clock: HandClock) -> None:
    with pytest.raises(StoreBroken, match=r"a store of kind 'mysql' is not known; use sqlite:"):
        async with open_store("mysql://localhost/x", clock=clock, owner="test"):
            pass


KILLED = """
import asyncio, json, sys, time
from wakeful.events import Event
from wakeful.store import open_store

class Clock:
    def now(self): return time.time_ns() // 1_000_000
    def boot(self): return time.monotonic()

async def main():
    async with open_store(sys.argv[1], clock=Clock(), owner="k") as store:
        async def put(lane):
            n = 0
            while True:
                key = f"console/{sys.argv[2]}/{lane}/{n}"
                event = Event(source="console", keys=(key,), principal="p",
                              thread_key=f"console/{lane}", text=key)
                accepted = await store.accept(event)
                print(json.dumps([accepted.seq, key]), flush=True)
                n += 1
        await asyncio.gather(*[put(lane) for lane in range(8)])

asyncio.run(main())
"""


async def test_D19_what_was_acknowledged_survives_kill_after_kill(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    told: dict[int, str] = {}
    for round in range(8):
        command = [sys.executable, "-c", KILLED, sqlite_url, str(round)]
        with subprocess.Popen(  # noqa: ASYNC220
            command, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(40 + 7 * round):
                seq, key = json.loads(process.stdout.readline())
                told[seq] = key
            process.kill()
            for line in process.stdout:  # acknowledged before the kill reached it
                if line.endswith("\n"):
                    seq, key = json.loads(line)
                    told[seq] = key
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        found = {row["event"]: row["text"] for row in await store.view.runs(limit=1_000_000)}
        assert {seq: found.get(seq) for seq in told} == told
        whole = await store.run(lambda s: s.raw.execute("PRAGMA integrity_check").fetchone()[0])
        assert whole == "ok"


async def test_D8_a_daemon_a_command_and_thirty_threads_share_the_file(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    """Foreign writers wait for their turn like ours do; nobody sees `database is locked`."""

    def foreign(n: int) -> int:
        line = connect(sqlite_url)
        for key in range(5):
            line.execute("BEGIN IMMEDIATE")
            line.execute("INSERT INTO meta (key, value) VALUES (?, 'x')", (f"{n}/{key}",))
            line.commit()
        line.close()
        return 5

    async def command(n: int) -> int:
        async with open_reader(sqlite_url) as view:
            return len(await view.runs(limit=10))

    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(event("first"))
        with ThreadPoolExecutor(30) as pool:
            loop = asyncio.get_running_loop()
            threads = [loop.run_in_executor(pool, foreign, n) for n in range(30)]
            ours = [store.accept(event(str(n), f"console/{n % 7}")) for n in range(200)]
            await asyncio.gather(*ours, *[command(n) for n in range(5)])
            assert sum(await asyncio.gather(*threads)) == 150
        assert len(await store.view.runs(limit=1000)) == 201
