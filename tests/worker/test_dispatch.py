"""The worker with the real store and a scripted agent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.service.fakes import (
    HandClock,
    Patient,
    Script,
    at_work,
    done,
    ended,
    event,
    rows,
    state_of,
    store_at,
    until,
)
from wakeful.backoff import Backoff
from wakeful.events import (
    Claim,
    Decision,
    Done,
    Failed,
    Outcome,
    Parked,
    WaitRequest,
)
from wakeful.store import Store, open_store
from wakeful.worker import Breaker, Limits, Worker

SECOND = Backoff(first=1.0, cap=1.0)
QUICK = Backoff(first=0.001, cap=0.002)


async def replies(store: Store) -> list[tuple[int, str]]:
    found = await rows(store, "SELECT event_seq, ordinal FROM outbox ORDER BY id")
    return [(row["event_seq"], row["ordinal"]) for row in found]


async def _parked(store: Store) -> bool:
    return bool(await rows(store, "SELECT 1 FROM thread WHERE state = 'parked'"))


async def test_an_event_becomes_a_reply(store: Store, clock: HandClock) -> None:
    agent = Script()
    async with at_work(store, agent, clock):
        accepted = await store.accept(event("hello"))
        await ended(store, accepted.seq)
    assert await state_of(store, accepted.seq) == "done"
    assert await replies(store) == [(accepted.seq, "final/console:a/0")]


async def test_D22_five_messages_at_once_in_one_thread_keep_their_order(
    store: Store, clock: HandClock
) -> None:
    agent = Script()
    seqs = [(await store.accept(event(f"m{n}"))).seq for n in range(5)]
    async with at_work(store, agent, clock):
        await ended(store, *seqs)
    assert agent.ran == ["m0", "m1", "m2", "m3", "m4"]
    assert agent.most == 1


async def test_threads_run_side_by_side_up_to_the_limit(store: Store, clock: HandClock) -> None:
    gate = asyncio.Event()

    async def wait(claim: Claim) -> Outcome:
        await gate.wait()
        return done(claim, "ok")

    agent = Script(wait)
    seqs = [(await store.accept(event("m", thread=f"t{n}"))).seq for n in range(7)]
    async with at_work(store, agent, clock, limits=Limits(concurrency=3)) as worker:
        await until(lambda: agent.now == 3)
        assert len(worker.running) == 3
        gate.set()
        await ended(store, *seqs)
    assert agent.most == 3


async def test_D1_what_a_killed_process_was_running_runs_again_and_is_answered_once(
    tmp_path: Path, clock: HandClock
) -> None:
    async with store_at(tmp_path, clock) as store:
        seq = (await store.accept(event("hello"))).seq
        assert await store.claim(8)  # and the process is gone
    async with store_at(tmp_path, clock, owner="next") as store:
        async with at_work(store, Script(), clock):
            await ended(store, seq)
        assert await replies(store) == [(seq, "final/console:a/0")]


async def test_an_outage_pauses_everybody_and_burns_no_attempt(
    store: Store, clock: HandClock
) -> None:
    down = True

    async def provider(claim: Claim) -> Outcome:
        if down:
            return Failed(error="503", outage=True, retry_after=10)
        return done(claim, "ok")

    agent = Script(provider)
    first = (await store.accept(event("m", thread="a"))).seq
    async with at_work(store, agent, clock, limits=Limits(attempts=1)) as worker:
        await until(lambda: worker.breaker.open and not worker.running)
        second = (await store.accept(event("m", thread="b"))).seq
        clock.move(9)
        worker.wake()
        assert await state_of(store, second) == "queued" and len(agent.ran) == 1
        down = False
        clock.move(10)
        worker.wake()
        await ended(store, first, second)
    assert not worker.breaker.open
    assert await rows(store, "SELECT attempts FROM thread WHERE attempts > 0") == []


async def test_D4_a_drain_lets_the_step_end_and_hands_the_rest_back(
    tmp_path: Path, clock: HandClock
) -> None:
    agent = Patient()
    async with store_at(tmp_path, clock) as store:
        seq = (await store.accept(event("long"))).seq
        async with at_work(store, agent, clock):
            await agent.working.wait()
        assert await state_of(store, seq) == "queued"
        [thread] = await rows(store, "SELECT state, attempts, crashes FROM thread")
        assert thread == {"state": "ready", "attempts": 0, "crashes": 0}
    async with store_at(tmp_path, clock, owner="next") as store:
        async with at_work(store, Script(), clock):
            await ended(store, seq)
        assert await replies(store) == [(seq, "final/console:a/0")]


async def test_a_drain_cuts_off_what_does_not_end_and_hands_it_back(
    store: Store, clock: HandClock
) -> None:
    working = asyncio.Event()

    async def deaf(claim: Claim) -> Outcome:
        working.set()
        await asyncio.Event().wait()
        return Done()

    seq = (await store.accept(event("long"))).seq
    async with at_work(store, Script(deaf), clock) as worker:
        await working.wait()
        await worker.drain(0.01)
        assert not worker.running
    assert await state_of(store, seq) == "queued"
    [thread] = await rows(store, "SELECT state, attempts, crashes FROM thread")
    assert thread == {"state": "ready", "attempts": 0, "crashes": 0}


async def test_an_event_stopped_before_it_ran_never_runs(store: Store, clock: HandClock) -> None:
    agent = Script()
    async with at_work(store, agent, clock) as worker:
        seq = (await store.accept(event("x", not_before=clock.now() + 1000))).seq
        assert await worker.stop(seq)
        await ended(store, seq)
        assert not await worker.stop(seq)
    assert agent.ran == [] and await replies(store) == [(seq, "notice")]


async def test_a_stop_is_not_forgotten_by_a_restart(store: Store, clock: HandClock) -> None:
    agent = Script()
    seq = (await store.accept(event("x"))).seq
    await store.claim(1)  # by a daemon that is told to stop it, and dies
    assert await Worker(store, agent, clock).stop(seq)
    async with at_work(store, agent, clock):
        await ended(store, seq)
    assert agent.ran == [] and agent.repaired == [(seq, "Stopped by the user.")]
    assert await replies(store) == [(seq, "notice")]


async def test_a_late_event_waits_for_its_moment(store: Store, clock: HandClock) -> None:
    agent = Script()
    async with at_work(store, agent, clock) as worker:
        seq = (await store.accept(event("x", not_before=clock.now() + 60_000))).seq
        worker.wake()
        clock.move(59)
        worker.wake()
        assert await state_of(store, seq) == "queued"
        clock.move(2)
        worker.wake()
        await ended(store, seq)


async def test_a_lost_lease_writes_nothing(store: Store, clock: HandClock) -> None:
    async def robbed(claim: Claim) -> Outcome:
        await store.db.run(lambda s: s.raw.execute("UPDATE thread SET fence = fence + 1"))
        return done(claim, "ok")

    seq = (await store.accept(event("x"))).seq
    agent = Script(robbed)
    async with at_work(store, agent, clock) as worker:
        await until(lambda: agent.ran and not worker.running)
    assert await replies(store) == [] and await state_of(store, seq) == "queued"


async def test_a_heartbeat_ends_what_another_worker_has_taken(
    store: Store, clock: HandClock
) -> None:
    working, over = asyncio.Event(), asyncio.Event()

    async def long(claim: Claim) -> Outcome:
        working.set()
        try:
            await asyncio.Event().wait()
        finally:
            over.set()
        return Done()

    seq = (await store.accept(event("x"))).seq
    async with at_work(store, Script(long), clock, lease=0.03) as worker:
        await working.wait()
        await store.db.run(lambda s: s.raw.execute("UPDATE thread SET fence = fence + 1"))
        await asyncio.wait_for(over.wait(), 5)
        await until(lambda: not worker.running)
    assert await replies(store) == [] and await state_of(store, seq) == "queued"


async def test_a_heartbeat_lets_a_long_run_go_on_beside_other_daemons(
    postgres_url: str, clock: HandClock
) -> None:
    held: list[Claim] = []
    over = asyncio.Event()

    async def long(claim: Claim) -> Outcome:
        held.append(claim)
        await over.wait()
        return done(claim, "ok")

    async with open_store(postgres_url, clock=clock, owner="me", lease=30.0) as store:
        seq = (await store.accept(event("x"))).seq
        async with at_work(store, Script(long), clock, lease=0.03):
            await until(lambda: held)
            began = held[0].lease.until
            assert clock.boot() < began < clock.boot() + 30
            clock.move(25)
            await until(lambda: held[0].lease.until == began + 25)
            over.set()

            async def answered() -> bool:
                row = await store.event(seq)
                return row is not None and row["state"] == "done"

            await until(answered)


async def test_D5_a_parked_run_goes_on_when_it_is_decided(store: Store, clock: HandClock) -> None:
    request = WaitRequest(id="w1", kind="approval", title="May I?", tool="pay", digest="d1")

    async def ask(claim: Claim) -> Outcome:
        if not claim.decisions:
            return Parked(waits=(request,))
        return done(claim, claim.decisions["w1"].verdict)

    seq = (await store.accept(event("pay"))).seq
    async with at_work(store, Script(ask), clock) as worker:
        await until(lambda: _parked(store))
        assert not worker.running
        yes = Decision(verdict="approve", by="console:operator", digest="d1")
        await store.decide("w1", yes, key="console/decision/w1")
        await ended(store, seq)
    told = ("ask:w1", "decided:w1", "final/console:a/0")
    assert await replies(store) == [(seq, ordinal) for ordinal in told]


async def test_D2_a_dead_reply_is_told_at_the_next_wake_up(store: Store, clock: HandClock) -> None:
    told: list[tuple[str, ...]] = []

    async def listen(claim: Claim) -> Outcome:
        told.append(claim.undelivered)
        return done(claim, "the answer")

    async with at_work(store, Script(listen), clock):
        await ended(store, (await store.accept(event("one"))).seq)
        [reply] = await store.take_replies(8)
        await store.undeliverable(reply, "the channel is gone")
        await ended(store, (await store.accept(event("two"))).seq)
        await ended(store, (await store.accept(event("three"))).seq)
    assert told == [(), ("the answer",), ()]


async def test_the_breaker_is_shared_with_whoever_wants_to_see_it(
    store: Store, clock: HandClock
) -> None:
    breaker = Breaker(clock)
    async with at_work(store, Script(), clock, breaker=breaker) as worker:
        assert worker.breaker is breaker
        await until(lambda: worker.alive)
    assert not worker.alive
