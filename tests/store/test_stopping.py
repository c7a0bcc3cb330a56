"""An event that somebody does not want any more ends, whatever it waits for."""

from __future__ import annotations

from tests.store.conftest import HandClock, event, question
from wakeful.events import Done, Failed, Parked
from wakeful.store import Store

HOUR = 3_600_000  # ms


async def test_an_event_that_waits_for_people_is_claimed_to_end(store: Store) -> None:
    seq = (await store.accept(event("1"))).seq
    [claim] = await store.claim(1)
    await store.park(claim, Parked(waits=(question(),)))
    assert not claim.stopped and await store.stop(seq)
    [claim] = await store.claim(1)
    assert claim.seq == seq and claim.stopped
    await store.finish(claim, Done(silent="stopped"))
    assert [wait.state for wait in await store.view.waits(state=None)] == ["cancelled"]
    assert not await store.stop(seq)


async def test_one_that_waits_for_its_moment_does_not_wait_for_it(
    store: Store, clock: HandClock
) -> None:
    late = (await store.accept(event("1", not_before=clock.now() + HOUR))).seq
    failed = (await store.accept(event("2", thread="console/b"))).seq
    [claim] = await store.claim(2)
    await store.retry(claim, Failed(error="no"), at=clock.now() + HOUR)
    assert await store.claim(2) == []
    assert await store.stop(late) and await store.stop(failed)
    assert sorted((c.seq, c.stopped) for c in await store.claim(2)) == [
        (late, True),
        (failed, True),
    ]


async def test_one_behind_another_ends_in_its_turn(store: Store) -> None:
    first, second = [(await store.accept(event(name))).seq for name in "12"]
    assert await store.stop(second)
    [claim] = await store.claim(2)
    assert claim.seq == first and not claim.stopped
    await store.finish(claim, Done(silent="done"))
    [claim] = await store.claim(2)
    assert claim.seq == second and claim.stopped


async def test_what_is_not_there_cannot_be_stopped(store: Store) -> None:
    assert not await store.stop(99)
