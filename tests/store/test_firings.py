from __future__ import annotations

import asyncio

from tests.store.conftest import START, HandClock, event
from wakeful.events import Done, Event, Outgoing, Receipt
from wakeful.store import FiringRow, ScheduleRow, Store

DUE, NEXT = START, START + 60_000
REPORT = Outgoing(ordinal="final/console:ops/0", address="console:ops", text="Swept.")


def firing_event(due: int = DUE) -> Event:
    return event(
        "report", "schedule/report", kind="firing", source="schedule", keys=(f"schedule/r@{due}",)
    )


async def arm(store: Store, next_at: int | None = DUE) -> None:
    await store.put_schedule(
        ScheduleRow(name="report", spec_json="{}", digest="d", next_at=next_at, anchor=0)
    )


async def next_at(store: Store) -> int | None:
    return (await store.schedule_rows())[0].next_at


async def only(store: Store) -> FiringRow:
    (found,) = await store.firings("report")
    return found


async def test_a_firing_its_event_and_the_next_time_are_one(store: Store) -> None:
    await arm(store)
    accepted = await store.fire("report", DUE, firing_event(), NEXT)
    assert accepted is not None and not accepted.duplicate
    assert await next_at(store) == NEXT
    found = await only(store)
    assert (found.state, found.due_at, found.event_seq) == ("running", DUE, accepted.seq)
    (claim,) = await store.claim(5)
    await store.finish(claim, Done(silent="nothing new"))
    found = await only(store)
    assert (found.state, found.outcome) == ("silent", "nothing new")


async def test_what_fired_does_not_fire_again(store: Store) -> None:
    await arm(store)
    assert await store.fire("report", DUE, firing_event(), NEXT)
    assert await store.fire("report", DUE, firing_event(), NEXT) is None
    await arm(store)  # a clock that was set back
    assert await store.fire("report", DUE, firing_event(), NEXT) is None
    assert await next_at(store) == NEXT
    assert len(await store.claim(5)) == 1


async def test_many_clocks_at_once_fire_once(store: Store) -> None:
    await arm(store)
    fired = await asyncio.gather(
        *(store.fire("report", DUE, firing_event(), NEXT) for _ in range(20))
    )
    assert sum(accepted is not None for accepted in fired) == 1
    assert len(await store.claim(5)) == 1


async def test_a_clock_that_is_behind_does_not_turn_the_time_back(store: Store) -> None:
    await arm(store)
    assert await store.fire("report", DUE, firing_event(), NEXT)
    assert await store.fire("report", NEXT, firing_event(NEXT), NEXT + 60_000)
    assert await store.fire("report", DUE, firing_event(), NEXT) is None
    assert not await store.skip_firing("report", DUE, NEXT, "missed")
    assert await next_at(store) == NEXT + 60_000


async def test_one_firing_may_stand_for_those_before_it(store: Store) -> None:
    await arm(store)
    missed = (DUE, "missed: 2 firings")
    late = NEXT + 60_000
    assert await store.fire("report", late, firing_event(late), None, seen=DUE, missed=missed)
    newest, first = await store.firings("report")
    assert (newest.due_at, newest.state) == (late, "running")
    assert (first.due_at, first.state, first.outcome) == (DUE, "skipped", "missed: 2 firings")
    assert first.ended_at == START
    assert await next_at(store) is None


async def test_a_firing_that_retention_forgot_is_known_by_its_event(store: Store) -> None:
    await arm(store)
    await store.accept(firing_event())
    assert await store.fire("report", DUE, firing_event(), NEXT) is None
    found = await only(store)
    assert (found.state, found.outcome) == ("skipped", "it fired before")


async def test_a_missed_firing_is_in_the_ledger_and_nothing_runs(store: Store) -> None:
    await arm(store)
    assert await store.skip_firing("report", DUE, NEXT, "missed: the daemon was down")
    found = await only(store)
    assert (found.state, found.outcome) == ("skipped", "missed: the daemon was down")
    assert await store.claim(5) == []
    assert await next_at(store) == NEXT


async def test_a_firing_by_hand_leaves_the_plan_alone(store: Store) -> None:
    await arm(store, NEXT)
    assert await store.fire_now("report", DUE, firing_event())
    assert await store.fire_now("report", DUE, firing_event()) is None
    assert await next_at(store) == NEXT


async def test_what_the_clock_runs_itself_is_not_for_the_worker(store: Store) -> None:
    await arm(store)
    accepted = await store.fire("report", DUE, firing_event(), NEXT, here=True)
    assert accepted is not None
    assert await store.claim(5) == []
    assert [found.due_at for found in await store.broken_firings(START + 1)] == [DUE]
    assert await store.broken_firings(START) == []
    assert await store.end_firing("report", DUE, "done", "Swept.", reply=REPORT)
    assert not await store.end_firing("report", DUE, "interrupted", "killed", reply=REPORT)
    (reply,) = await store.take_replies(5)
    assert (reply.text, reply.thread_key) == ("Swept.", "schedule/report")
    await store.sent(reply, Receipt("r1"))
    found = await only(store)
    assert (found.state, found.outcome, found.delivery) == ("done", "Swept.", "sent")
    assert await store.broken_firings(START + 1) == []


async def test_a_run_that_failed_is_seen_among_the_runs(store: Store) -> None:
    await arm(store)
    accepted = await store.fire("report", DUE, firing_event(), NEXT, here=True)
    assert accepted is not None
    await store.end_firing("report", DUE, "failed", "OSError: no such share")
    run = await store.view.run(accepted.seq)
    assert run is not None
    assert (run["state"], run["error"]) == ("failed", "OSError: no such share")


async def test_a_worker_s_firing_is_never_broken(store: Store, clock: HandClock) -> None:
    await arm(store)
    assert await store.fire("report", DUE, firing_event(), NEXT)
    clock.move(3600)
    assert await store.broken_firings(clock.now()) == []
