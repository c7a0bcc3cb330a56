"""A conversation that is lent for a moment loses nothing of what comes in meanwhile."""

from __future__ import annotations

from tests.store.conftest import HandClock, Opener, event
from wakeful.events import Done
from wakeful.store import Store


async def slept(store: Store) -> None:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    await store.finish(claim, Done(silent="x"))


async def test_what_comes_in_meanwhile_has_its_turn_afterwards(store: Store) -> None:
    await slept(store)
    fence = await store.lend("console/a")
    assert fence is not None and await store.lend("console/a") is None
    seq = (await store.accept(event("2"))).seq
    assert await store.claim(8) == []
    await store.take_back("console/a", fence)
    [claim] = await store.claim(8)
    assert claim.seq == seq and claim.fence == fence + 1 and claim.crashes == 0


async def test_only_what_is_idle_is_lent(store: Store) -> None:
    await store.accept(event("1"))
    assert await store.lend("console/a") is None
    [claim] = await store.claim(1)
    assert await store.lend("console/a") is None
    await store.take_back("console/a", claim.fence)  # it was never lent
    await store.finish(claim, Done(silent="x"))
    assert await store.lend("console/b") is None


async def test_a_daemon_that_dies_meanwhile_keeps_nothing(
    opening: Opener, clock: HandClock
) -> None:
    async with opening(lease=0.0) as store:
        await slept(store)
        assert await store.lend("console/a") is not None
        seq = (await store.accept(event("2"))).seq
    async with opening() as store:
        clock.move(1)
        await store.recover()
        [claim] = await store.claim(8)
        assert claim.seq == seq
