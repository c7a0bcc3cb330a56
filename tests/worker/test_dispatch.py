"""The worker with the real store and a scripted agent."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

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
from wakeful.errors import Drained, StoreFull
from wakeful.events import (
    Claim,
    Decision,
    Done,
    Failed,
    Outcome,
    Outgoing,
    Parked,
    Update,
    WaitRequest,
)
from wakeful.store import Store, open_store
from wakeful.worker import Breaker, Limits, Worker

SECOND = Backoff(first=1.0, cap=1.0)
QUICK = Backoff(first=0.001, cap=0.002)


async def replies(store: Store) -> list[tuple[int, str]]:
    found = await rows(store, "SELECT event_seq, ordinal FROM outbox ORDER BY id")
    return [(row["event_seq"], row["ordinal"]) for row in found]


def _idle_after(agent: Script, worker: Worker, runs: int) -> bool:
    return len(agent.ran) == runs and not worker.running


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


async def test_a_failed_event_blocks_its_thread_and_is_tried_again(
    store: Store, clock: HandClock
) -> None:
    failures = 2

    async def flaky(claim: Claim) -> Outcome:
        nonlocal failures
        if claim.event.text == "first" and failures:
            failures -= 1
            raise ValueError("not yet")
        return done(claim, "ok")

    agent = Script(flaky)
    seqs = [(await store.accept(event(text))).seq for text in ("first", "second")]
    async with at_work(store, agent, clock, retry=SECOND) as worker:
        for attempt in (1, 2):
            await until(partial(_idle_after, agent, worker, attempt))
            clock.move(2)
            worker.wake()
        await ended(store, *seqs)
    assert agent.ran == ["first", "first", "first", "second"]


async def test_a_dead_event_is_repaired_told_and_lets_the_next_one_run(
    store: Store, clock: HandClock
) -> None:
    async def broken(claim: Claim) -> Outcome:
        if claim.event.text == "bad":
            return Failed(error="no such model", final=True)
        return done(claim, "ok")

    agent = Script(broken)
    bad, good = [(await store.accept(event(text))).seq for text in ("bad", "good")]
    async with at_work(store, agent, clock):
        await ended(store, bad, good)
    assert await state_of(store, bad) == "dead" and await state_of(store, good) == "done"
    assert agent.repaired == [(bad, "no such model")]
    assert await replies(store) == [(bad, "notice"), (good, "final/console:a/0")]
    [notice] = await rows(store, "SELECT payload FROM outbox WHERE event_seq = ?", bad)
    assert "no such model" in notice["payload"] and f"wakeful replay {bad}" in notice["payload"]


async def test_after_the_last_attempt_an_event_is_dead(store: Store, clock: HandClock) -> None:
    async def fail(claim: Claim) -> Outcome:
        raise ValueError("always")

    agent = Script(fail)
    seq = (await store.accept(event("bad"))).seq
    async with at_work(store, agent, clock, retry=SECOND, limits=Limits(attempts=3)) as worker:
        for attempt in (1, 2):
            await until(partial(_idle_after, agent, worker, attempt))
            clock.move(2)
            worker.wake()
        await ended(store, seq)
    assert len(agent.ran) == 3 and await state_of(store, seq) == "dead"


async def test_D17_a_poison_event_that_kills_the_process_is_buried_with_a_notice(
    tmp_path: Path, clock: HandClock
) -> None:
    async with store_at(tmp_path, clock) as store:
        poison, after = [(await store.accept(event(text))).seq for text in ("poison", "after")]
    for life in range(5):  # five processes that died over it
        async with store_at(tmp_path, clock, owner=f"life-{life}") as store:
            await store.recover()
            assert [claim.seq for claim in await store.claim(8)] == [poison]
    agent = Script()
    async with store_at(tmp_path, clock, owner="last") as store, at_work(store, agent, clock):
        await ended(store, poison, after)
        assert await state_of(store, poison) == "dead"
        assert (poison, "notice") in await replies(store)
    assert agent.ran == ["after"]
    assert agent.repaired and "died 5 times" in agent.repaired[0][1]


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


async def test_a_run_past_its_time_is_cancelled_with_a_notice(
    store: Store, clock: HandClock
) -> None:
    cancelled = asyncio.Event()

    async def endless(claim: Claim) -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return Done()

    agent = Script(endless)
    seq = (await store.accept(event("loop"))).seq
    async with at_work(store, agent, clock, limits=Limits(seconds=0.05)):
        await ended(store, seq)
    assert cancelled.is_set()
    assert agent.repaired and "[limits] seconds" in agent.repaired[0][1]
    assert await replies(store) == [(seq, "notice")]


async def test_a_timeout_inside_a_tool_is_not_ours(store: Store, clock: HandClock) -> None:
    async def late(claim: Claim) -> Outcome:
        raise TimeoutError("the tool's own")

    agent = Script(late)
    seq = (await store.accept(event("x"))).seq
    async with at_work(store, agent, clock, limits=Limits(attempts=1)):
        await ended(store, seq)
    assert agent.repaired == [(seq, "TimeoutError: the tool's own")]


async def test_an_empty_end_becomes_a_notice(store: Store, clock: HandClock) -> None:
    async def nothing(claim: Claim) -> Outcome:
        return Done()

    seq = (await store.accept(event("x"))).seq
    async with at_work(store, Script(nothing), clock):
        await ended(store, seq)
    assert await replies(store) == [(seq, "notice")]


async def test_a_chosen_silence_says_nothing(store: Store, clock: HandClock) -> None:
    async def silent(claim: Claim) -> Outcome:
        return Done(silent="nothing new")

    seq = (await store.accept(event("x"))).seq
    async with at_work(store, Script(silent), clock):
        await ended(store, seq)
    assert await replies(store) == [] and await state_of(store, seq) == "silent"


async def test_a_dead_event_without_address_goes_to_the_alerts(
    store: Store, clock: HandClock
) -> None:
    async def broken(claim: Claim) -> Outcome:
        return Failed(error="no", final=True)

    seq = (await store.accept(event("x", address="", channel=""))).seq
    limits = Limits(alerts=("console:ops",))
    async with at_work(store, Script(broken), clock, limits=limits):
        await ended(store, seq)
    assert [row["address"] for row in await rows(store, "SELECT address FROM outbox")] == [
        "console:ops"
    ]


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


async def test_a_stopped_run_ends_with_a_notice_and_is_repaired(
    store: Store, clock: HandClock
) -> None:
    agent = Patient()
    seq = (await store.accept(event("long"))).seq
    async with at_work(store, agent, clock) as worker:
        await agent.working.wait()
        assert await worker.stop(seq)
        await ended(store, seq)
    assert agent.repaired == [(seq, "Stopped by the user.")]
    assert await replies(store) == [(seq, "notice")]


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
    assert await replies(store) == [(seq, "ask:w1"), (seq, "final/console:a/0")]


async def _parked(store: Store) -> bool:
    return bool(await rows(store, "SELECT 1 FROM thread WHERE state = 'parked'"))


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


async def test_those_who_watch_hear_of_every_state(store: Store, clock: HandClock) -> None:
    heard: list[Update] = []
    agent = Script()
    async with at_work(store, agent, clock, watch=lambda _: heard.append, publish=heard.append):
        await ended(store, (await store.accept(event("hello"))).seq)
    assert [(one.kind, one.text) for one in heard] == [
        ("state", "running"),
        ("reply", "you said hello"),
        ("state", "done"),
    ]
    assert agent.emits[0] is not None


async def test_a_full_disk_keeps_the_outcome_until_there_is_room(
    store: Store, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = [StoreFull(), StoreFull()]
    finish = store.finish

    async def no_room(claim: Claim, end: Done) -> None:
        if full:
            raise full.pop()
        await finish(claim, end)

    monkeypatch.setattr(store, "finish", no_room)
    monkeypatch.setattr("wakeful.worker.run.STORE", QUICK)
    agent = Script()
    seq = (await store.accept(event("x"))).seq
    async with at_work(store, agent, clock):
        await ended(store, seq)
    assert len(agent.ran) == 1 and await state_of(store, seq) == "done"


async def test_a_run_that_meets_a_full_disk_burns_no_attempt(
    store: Store, clock: HandClock
) -> None:
    full = [StoreFull()]

    async def no_room(claim: Claim) -> Outcome:
        if full:
            raise full.pop()
        return done(claim, "ok")

    agent = Script(no_room)
    seq = (await store.accept(event("x"))).seq
    async with at_work(store, agent, clock, limits=Limits(attempts=1)) as worker:
        await until(partial(_idle_after, agent, worker, 1))
        clock.move(10)
        worker.wake()
        await ended(store, seq)
    assert await state_of(store, seq) == "done"


async def test_a_run_that_ends_early_unasked_is_a_failure(store: Store, clock: HandClock) -> None:
    async def odd(claim: Claim) -> Outcome:
        raise Drained

    seq = (await store.accept(event("x"))).seq
    async with at_work(store, Script(odd), clock, limits=Limits(attempts=1)):
        await ended(store, seq)
    assert await state_of(store, seq) == "dead"


async def test_an_outcome_that_cannot_be_recorded_counts_as_a_failure(
    store: Store, clock: HandClock
) -> None:
    async def odd(claim: Claim) -> Outcome:
        return Done(replies=(Outgoing(ordinal="x", address="console:a", text="\ud800"),))

    seq = (await store.accept(event("x"))).seq
    async with at_work(store, Script(odd), clock, limits=Limits(attempts=1)):
        await ended(store, seq)
    assert await state_of(store, seq) in ("dead", "done")


async def test_the_breaker_is_shared_with_whoever_wants_to_see_it(
    store: Store, clock: HandClock
) -> None:
    breaker = Breaker(clock)
    async with at_work(store, Script(), clock, breaker=breaker) as worker:
        assert worker.breaker is breaker
        await until(lambda: worker.alive)
    assert not worker.alive
