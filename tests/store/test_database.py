"""Group commit, and what one bad operation may not do to the others."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.store.conftest import HandClock, event
from wakeful.errors import StoreBroken, StoreFull, StoreReadOnly, Unknown
from wakeful.store import Session, Store, open_store
from wakeful.store import database as module


@pytest.fixture
async def alone(sqlite_url: str, clock: HandClock) -> AsyncIterator[Store]:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        yield store


async def test_what_is_queued_together_shares_a_transaction(alone: Store) -> None:
    sessions = await asyncio.gather(*[alone.run(lambda s: id(s)) for _ in range(50)])
    assert len(set(sessions)) < 10


async def test_a_bad_operation_fails_alone(alone: Store) -> None:
    def bad(s: Session) -> None:
        s.raw.execute("INSERT INTO meta (key, value) VALUES ('half', 'done')")
        raise ValueError("bad")

    results = await asyncio.gather(
        alone.accept(event("1")), alone.run(bad), alone.accept(event("2")), return_exceptions=True
    )
    assert isinstance(results[1], ValueError)
    assert [row["text"] for row in await alone.view.runs()] == ["2", "1"]
    assert (
        await alone.run(
            lambda s: s.raw.execute("SELECT count(*) FROM meta WHERE key = 'half'").fetchone()[0]
        )
        == 0
    )


async def test_an_error_of_ours_that_wrote_nothing_costs_nobody_a_second_run(alone: Store) -> None:
    runs: list[str] = []

    def good(s: Session) -> None:
        runs.append("good")

    def refused(s: Session) -> None:
        runs.append("refused")
        raise Unknown

    await asyncio.gather(alone.run(good), alone.run(refused), return_exceptions=True)
    assert runs == ["good", "refused"]


async def test_a_caller_that_gives_up_does_not_undo_what_is_queued(alone: Store) -> None:
    accepting = asyncio.ensure_future(alone.accept(event("1")))
    await asyncio.sleep(0)
    accepting.cancel()
    await asyncio.wait([accepting])
    assert (await alone.accept(event("1"))).duplicate
    assert len(await alone.claim(1)) == 1


async def test_a_full_queue_makes_its_callers_wait(
    sqlite_url: str, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 4)
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        most = 0

        def look(s: Session) -> None:
            nonlocal most
            most = max(most, store.db.waiting)

        await asyncio.gather(*[store.run(look) for _ in range(50)])
        assert 1 <= most <= 4


async def test_a_closed_store_says_so(sqlite_url: str, clock: HandClock) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        pass
    with pytest.raises(StoreBroken, match="the store is closed"):
        await store.accept(event("1"))


async def test_D8_every_connection_waits_for_the_others_and_has_its_log(alone: Store) -> None:
    found: dict[bool, list[Any]] = {}
    names = ("journal_mode", "busy_timeout", "synchronous")
    for durable in (True, False):
        found[durable] = await alone.run(
            lambda s: [s.raw.execute(f"PRAGMA {name}").fetchone()[0] for name in names],
            durable=durable,
        )
    read = await alone.view.read(
        lambda s: [s.raw.execute(f"PRAGMA {name}").fetchone()[0] for name in names[:2]]
    )
    assert found == {True: ["wal", 30_000, 2], False: ["wal", 30_000, 1]}
    assert read == ["wal", 30_000]


async def test_a_full_disk_is_named_and_loses_nothing(alone: Store) -> None:
    """SQLite's own limit stands in for the disk's: the error is the same one."""
    first = await alone.accept(event("1"))
    for durable in (True, False):
        await alone.run(_limit(1), durable=durable)
    with pytest.raises(StoreFull, match=r"the disk with state\.db is full; free some space"):
        await alone.accept(event("2", text="x" * 1_000_000))
    for durable in (True, False):
        await alone.run(_limit(1 << 30), durable=durable)
    second = await alone.accept(event("2"))
    assert not second.duplicate
    claimed = []
    while claims := await alone.claim(1):
        claimed.append(claims[0].seq)
        await alone.bury(claims[0], "x", None)
    assert claimed == [first.seq, second.seq]


def _limit(pages: int) -> Any:
    return lambda s: s.raw.execute(f"PRAGMA max_page_count = {pages}").fetchall()


async def test_a_disk_without_writing_is_named(alone: Store) -> None:
    await alone.accept(event("1"))
    lines = [await alone.run(lambda s: s.raw, durable=durable) for durable in (True, False)]
    for line in lines:
        line.execute("PRAGMA query_only = 1")
    with pytest.raises(StoreReadOnly, match=r"state\.db cannot be written; make"):
        await alone.accept(event("2"))
    for line in lines:
        line.execute("PRAGMA query_only = 0")
    assert not (await alone.accept(event("2"))).duplicate


async def test_a_writer_from_outside_is_waited_for(
    alone: Store, sqlite_url: str, tmp_path: Any
) -> None:
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    accepting = asyncio.ensure_future(alone.accept(event("1")))
    done, _ = await asyncio.wait([accepting], timeout=0.2)
    assert not done
    other.execute("COMMIT")
    other.close()
    assert (await accepting).seq == 1


async def test_a_postgresql_that_does_not_answer_is_named(clock: HandClock) -> None:
    nobody = "postgresql+psycopg://postgres@127.0.0.1:1/postgres"
    with pytest.raises(StoreBroken, match=r"PostgreSQL does not answer .*; start it"):
        async with open_store(nobody, clock=clock, owner="test"):
            pass


async def test_a_connection_that_broke_is_made_anew(postgres_url: str, clock: HandClock) -> None:
    async with open_store(postgres_url, clock=clock, owner="test") as store:
        await store.accept(event("1"))
        with pytest.raises(StoreBroken, match="PostgreSQL does not answer"):
            await store.run(lambda s: s.raw.close())
        assert (await store.accept(event("2"))).seq > 1
