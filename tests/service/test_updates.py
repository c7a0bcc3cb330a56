from __future__ import annotations

import asyncio
from typing import Any

from wakeful.events import Claim, Event, Update
from wakeful.service import updates as bus
from wakeful.service.updates import Updates

Rows = dict[int, dict[str, Any]]


def make(rows: Rows) -> Updates:
    async def look(seq: int) -> dict[str, Any] | None:
        return rows.get(seq)

    return Updates(look, process="p1")


def claim(seq: int, **data: Any) -> Claim:
    event = Event(
        source="console",
        keys=(f"console/{seq}",),
        principal="console:operator",
        thread_key="console/a",
        text="hi",
        data=data,
    )
    return Claim(seq=seq, event=event, graph_id="g", fence=1, attempts=0, crashes=0, received_at=0)


def text(piece: str, seq: int = 1) -> Update:
    return Update(kind="text", event_seq=seq, text=piece)


def state(name: str, seq: int = 1) -> Update:
    return Update(kind="state", event_seq=seq, text=name)


async def collect(updates: Updates, seq: int = 1, after: str | None = None) -> list[Any]:
    return [(id, one.kind, one.text) async for id, one in updates.stream(seq, after=after)]


async def started(updates: Updates, **kw: Any) -> asyncio.Task[list[Any]]:
    task = asyncio.create_task(collect(updates, **kw))
    for _ in range(5):
        await asyncio.sleep(0)
    return task


async def test_nobody_watches_nothing_is_told() -> None:
    updates = make({})
    assert updates.watch(claim(1)) is None
    updates.publish(text("unheard"))
    assert not updates._topics


async def test_a_watcher_gets_a_snapshot_then_what_comes_and_the_stream_ends() -> None:
    updates = make({1: {"state": "running"}})
    task = await started(updates)
    emit = updates.watch(claim(1))
    assert emit is not None
    emit(text("Hel"))
    emit(text("lo"))
    updates.publish(state("done"))
    assert await task == [
        ("p1.0", "state", "running"),
        ("p1.1", "text", "Hel"),
        ("p1.2", "text", "lo"),
        ("p1.3", "state", "done"),
    ]
    assert not updates._topics


async def test_a_live_event_keeps_its_beginning_for_who_comes_late() -> None:
    updates = make({1: {"state": "running"}})
    emit = updates.watch(claim(1, live=True))
    assert emit is not None
    emit(text("Hel"))
    emit(text("lo"))
    task = await started(updates)
    updates.publish(state("done"))
    assert [one[1:] for one in await task] == [
        ("text", "Hello"),
        ("state", "running"),
        ("state", "done"),
    ]
    assert not updates._topics


async def test_who_comes_back_gets_what_was_missed_and_nothing_twice() -> None:
    updates = make({1: {"state": "running"}})
    emit = updates.watch(claim(1, live=True))
    assert emit is not None
    for piece in "abcd":
        emit(text(piece))
    task = await started(updates, after="p1.2")
    updates.publish(state("done"))
    assert [one[2] for one in await task] == ["c", "d", "done"]


async def test_an_id_of_another_process_gets_a_snapshot() -> None:
    updates = make({1: {"state": "done", "reply": "Hello"}})
    assert [one[1:] for one in await collect(updates, after="p0.7")] == [
        ("reply", "Hello"),
        ("state", "done"),
    ]


async def test_an_event_that_ended_is_told_and_the_stream_ends() -> None:
    updates = make({1: {"state": "merged", "merged_into": 4}})
    found = [one async for _, one in updates.stream(1)]
    assert [(one.text, one.detail) for one in found] == [("merged", "4")]


async def test_a_slow_watcher_costs_a_bounded_queue_and_gets_a_new_snapshot() -> None:
    updates = make({1: {"state": "running"}})
    emit = updates.watch(claim(1, live=True))
    assert emit is not None
    stream = updates.stream(1)
    await anext(stream)
    for _ in range(bus.BEHIND + 10):
        emit(text("x"))
    updates.publish(Update(kind="tool", event_seq=1, text="look", call_id="c1"))
    seen = [await anext(stream) for _ in range(2)]
    assert [one.kind for _, one in seen] == ["tool", "state"]
    await stream.aclose()  # type: ignore[attr-defined]


async def test_closing_ends_every_stream() -> None:
    updates = make({1: {"state": "waiting"}})
    task = await started(updates)
    updates.close()
    assert [one[1:] for one in await task] == [("state", "waiting")]


async def test_a_reader_that_leaves_is_forgotten() -> None:
    updates = make({1: {"state": "running"}})
    task = await started(updates)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not updates._topics
