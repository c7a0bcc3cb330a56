from __future__ import annotations

from tests.store.conftest import START
from wakeful.store import ScheduleRow, Store


def row(name: str = "report", **fields: object) -> ScheduleRow:
    made: dict[str, object] = {"spec_json": "{}", "digest": "d1", "anchor": 5, "next_at": START}
    return ScheduleRow(name=name, **(made | fields))  # type: ignore[arg-type]


async def names_due(store: Store, now: int) -> list[str]:
    return [found.name for found in await store.due_schedules(now)]


async def test_a_schedule_comes_back_as_it_was_stored(store: Store) -> None:
    rows = [row("a"), row("b", next_at=None, anchor=None, origin="chat", owner="console:operator")]
    await store.sync_schedules(rows)
    assert await store.schedule_rows() == rows
    await store.sync_schedules([row("a", spec_json='{"cron":"x"}', digest="d2", next_at=START + 9)])
    assert (await store.schedule_rows())[0].digest == "d2"


async def test_due_is_what_is_armed_not_paused_and_over(store: Store) -> None:
    await store.sync_schedules(
        [row("late", next_at=START - 5), row("now"), row("soon", next_at=START + 1)]
    )
    await store.put_schedule(row("over", next_at=None))
    await store.put_schedule(row("paused", next_at=START - 9))
    assert await store.pause_schedule("paused", START, next_at=START - 9)
    assert await names_due(store, START) == ["late", "now"]
    assert await store.next_schedule_due() == START - 5
    assert await store.next_schedule_due(after=START) == START + 1
    assert await store.next_schedule_due(after=START + 1) is None


async def test_a_pause_survives_a_sync_and_ends_with_a_new_time(store: Store) -> None:
    await store.put_schedule(row())
    await store.pause_schedule("report", START, next_at=START)
    await store.sync_schedules([row(spec_json='{"new":1}')])
    assert await names_due(store, START) == []
    assert await store.pause_schedule("report", None, next_at=START + 7)
    assert await store.next_schedule_due() == START + 7
    assert not await store.pause_schedule("unknown", START, next_at=None)


async def test_a_file_that_is_gone_is_disarmed_and_said_once(store: Store) -> None:
    await store.sync_schedules([row("a"), row("b"), row("c")])
    await store.put_schedule(row("chat", origin="chat"))
    assert await store.sync_schedules([row("a")], keep=["b"]) == ["c"]
    assert await store.sync_schedules([row("a")], keep=["b"]) == []
    assert await names_due(store, START) == ["a", "b", "chat"]
    gone = {found.name: found for found in await store.schedule_rows()}["c"]
    assert (gone.next_at, gone.digest) == (None, "")


async def test_a_schedule_made_by_chat_can_be_dropped(store: Store) -> None:
    await store.put_schedule(row("chat", origin="chat"))
    assert await store.drop_schedule("chat")
    assert not await store.drop_schedule("chat")
    assert await store.schedule_rows() == []
