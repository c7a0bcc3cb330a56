"""How one claim ends, with the real store and a scripted agent: answers, notices, other tries."""

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
    Done,
    Failed,
    Outcome,
    Outgoing,
    Update,
)
from wakeful.store import Store
from wakeful.worker import Limits, Worker

SECOND = Backoff(first=1.0, cap=1.0)
QUICK = Backoff(first=0.001, cap=0.002)


async def replies(store: Store) -> list[tuple[int, str]]:
    found = await rows(store, "SELECT event_seq, ordinal FROM outbox ORDER BY id")
    return [(row["event_seq"], row["ordinal"]) for row in found]


def _idle_after(agent: Script, worker: Worker, runs: int) -> bool:
    return len(agent.ran) == runs and not worker.running


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
