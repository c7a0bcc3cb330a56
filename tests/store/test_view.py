"""What pages and commands see."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.store.conftest import HandClock, answer, event
from wakeful.errors import StoreBroken, StoreReadOnly
from wakeful.events import Done
from wakeful.store import Store, open_reader, open_store


async def test_threads_come_latest_first_and_page(store: Store, clock: HandClock) -> None:
    for name in ("a", "b", "c"):
        await store.accept(event(name, f"console/{name}"))
        clock.move(1)
    rows = await store.view.threads(limit=2)
    assert [row["key"] for row in rows] == ["console/c", "console/b"]
    assert rows[0]["text"] == "c"
    assert rows[0]["at"] == "2027-01-15T08:00:02.000Z"
    more = await store.view.threads(before=rows[-1]["key"])
    assert [row["key"] for row in more] == ["console/a"]
    assert (await store.view.thread("console/b") or {})["state"] == "ready"
    assert await store.view.thread("console/z") is None


async def test_messages_are_the_last_ones_oldest_first(store: Store) -> None:
    seqs = [(await store.accept(event(str(n)))).seq for n in range(5)]
    last = await store.view.messages("console/a", limit=2)
    assert [one.text for one in last] == ["3", "4"]
    before = await store.view.messages("console/a", limit=2, before=seqs[3])
    assert [one.text for one in before] == ["1", "2"]


async def test_runs_by_the_state_that_people_see(store: Store) -> None:
    for n in range(3):
        await store.accept(event(str(n), f"console/{n}"))
    done, running = await store.claim(2)
    await store.finish(done, Done(replies=(answer(),)))
    by_state = {
        state: [row["text"] for row in await store.view.runs(state=state)]
        for state in ("done", "running", "queued", "failed")
    }
    assert by_state == {"done": ["0"], "running": ["1"], "queued": ["2"], "failed": []}
    assert [row["event"] for row in await store.view.runs()] == [3, running.seq, done.seq]
    status = await store.view.status()
    assert (status["queued"], status["running"], status["replies"]) == (1, 1, 1)


async def test_an_event_that_is_not_there(store: Store) -> None:
    assert await store.event(99) is None
    assert await store.view.run(99) is None
    assert await store.input_of(99) is None


async def test_a_reader_looks_into_a_store_whose_daemon_is_down(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(event("1"))
    before = sorted(os.listdir(tmp_path))
    async with open_reader(sqlite_url) as view:
        assert [row["text"] for row in await view.runs()] == ["1"]
        with pytest.raises(StoreReadOnly):
            await view.read(lambda s: s.raw.execute("DELETE FROM inbox"))
    assert sorted(os.listdir(tmp_path)) == before


async def test_a_reader_looks_beside_a_daemon_that_is_up(store: Store, url: str) -> None:
    await store.accept(event("1"))
    async with open_reader(url) as view:
        assert [row["text"] for row in await view.runs()] == ["1"]
        await store.accept(event("2"))
        assert [row["text"] for row in await view.runs()] == ["2", "1"]


async def test_a_store_that_was_never_made_is_empty_and_is_not_made(tmp_path: Path) -> None:
    async with open_reader(f"sqlite:///{tmp_path}/state.db") as view:
        assert await view.threads() == []
        assert (await view.status())["queued"] == 0
    assert os.listdir(tmp_path) == []


async def test_a_reader_refuses_a_file_that_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("not a database, " * 100)
    async with open_reader(f"sqlite:///{tmp_path}/state.db") as view:
        with pytest.raises(StoreBroken, match=r"state\.db is damaged"):
            await view.threads()


async def test_a_firing_is_listed_by_its_prompt(store: Store) -> None:
    told = "It is Monday. This is the schedule report.\n\nWrite the report.\n\nBriefly."
    for name, text in (("a", told), ("b", "It is Monday.")):  # code has no prompt
        await store.accept(event(name, f"schedule/{name}", kind="firing", text=text))
    listed = [row["text"] for row in await store.view.runs()]
    assert listed == ["It is Monday.", "Write the report. Briefly."]
