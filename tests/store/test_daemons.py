"""Several daemons on one PostgreSQL database: leases, take-over, one voice for each thread."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from tests.store.conftest import HandClock, answer, event
from wakeful.errors import LeaseLost
from wakeful.events import Done, Receipt
from wakeful.store import Store, open_store

EVENTS = 120
THREADS = 12


async def test_two_daemons_share_the_work_and_keep_every_order(
    postgres_url: str, clock: HandClock
) -> None:
    ran: list[tuple[str, int]] = []
    sent: list[tuple[str, int]] = []

    async def work(store: Store) -> None:
        while len(sent) < EVENTS:
            for claim in await store.claim(3):
                ran.append((claim.thread_key, claim.seq))
                reply = answer(str(claim.seq), address=f"console:{claim.thread_key}")
                await store.finish(claim, Done(replies=(reply,)))
            for taken in await store.take_replies(3):
                sent.append((taken.thread_key, int(taken.text)))
                await store.sent(taken, Receipt("id"))

    async with AsyncExitStack() as stack:
        stores = [
            await stack.enter_async_context(open_store(postgres_url, clock=clock, owner=name))
            for name in ("a", "b")
        ]
        for n in range(EVENTS):
            await stores[n % 2].accept(event(str(n), f"console/{n % THREADS}"))
        async with asyncio.timeout(60):
            await asyncio.gather(*[work(store) for store in stores for _ in range(2)])
    for order in (ran, sent):
        assert len(set(order)) == len(order) == EVENTS
        for thread in {thread for thread, _ in order}:
            mine = [seq for key, seq in order if key == thread]
            assert mine == sorted(mine)


async def test_one_event_accepted_by_two_daemons_at_once_is_one(
    postgres_url: str, clock: HandClock
) -> None:
    async with AsyncExitStack() as stack:
        stores = [
            await stack.enter_async_context(open_store(postgres_url, clock=clock, owner=name))
            for name in ("a", "b")
        ]
        for n in range(30):
            both = [store.accept(event(str(n), f"console/{n % 3}")) for store in stores]
            one, other = await asyncio.gather(*both)
            assert one.seq == other.seq
            assert one.duplicate != other.duplicate


async def test_the_work_of_a_dead_daemon_is_taken_over_and_its_zombie_writes_nothing(
    postgres_url: str, clock: HandClock
) -> None:
    async with AsyncExitStack() as stack:
        dying = await stack.enter_async_context(
            open_store(postgres_url, clock=clock, owner="a", lease=0.0)
        )
        other = await stack.enter_async_context(open_store(postgres_url, clock=clock, owner="b"))
        await dying.accept(event("1"))
        [lost] = await dying.claim(1)
        assert lost.lease.until <= clock.boot()
        assert await other.recover() == 1
        [taken] = await other.claim(1)
        assert (taken.seq, taken.crashes) == (lost.seq, 1)
        assert await other.recover() == 0  # a lease that is held is left alone
        assert await dying.heartbeat() == set()
        with pytest.raises(LeaseLost):
            await dying.finish(lost, Done(silent="x"))
        await other.finish(taken, Done(replies=(answer(),)))
        assert await other.heartbeat() == set()
