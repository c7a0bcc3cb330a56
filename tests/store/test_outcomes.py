"""How a claim ends, and that a claim that was lost ends nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.store.conftest import HandClock, Opener, answer, event, question
from wakeful.errors import LeaseLost
from wakeful.events import Claim, Decision, Done, Failed, Message, Outgoing, Parked, Receipt, Step
from wakeful.store import Store

DONE = Done(replies=(answer(),))


async def one(store: Store) -> Claim:
    [claim] = await store.claim(1)
    return claim


async def test_finish_writes_the_reply_and_lets_the_next_event_run(store: Store) -> None:
    first, second = await store.accept(event("1")), await store.accept(event("2"))
    claim = await one(store)
    assert claim.seq == first.seq
    assert await store.claim(8) == []
    await store.finish(claim, DONE)
    assert (await store.event(first.seq) or {})["state"] == "done"
    assert (await store.event(first.seq) or {})["reply"] == "yes"
    assert (await one(store)).seq == second.seq


async def test_threads_run_side_by_side_oldest_event_first(store: Store) -> None:
    for name, thread in (("1", "console/b"), ("2", "console/a"), ("3", "console/b")):
        await store.accept(event(name, thread))
    assert [claim.event.text for claim in await store.claim(8)] == ["1", "2"]


async def test_a_recorded_silence_is_an_end(store: Store) -> None:
    accepted = await store.accept(event("1"))
    await store.finish(await one(store), Done(silent="nothing new"))
    shown = await store.event(accepted.seq)
    assert shown is not None
    assert (shown["state"], shown["error"], shown["reply"]) == ("silent", "nothing new", None)
    assert await store.take_replies(8) == []


async def test_a_retry_waits_and_counts_an_attempt(store: Store, clock: HandClock) -> None:
    await store.accept(event("1"))
    await store.accept(event("2"))
    claim = await one(store)
    await store.retry(claim, Failed(error="broken"), at=clock.now() + 2000)
    claims = await store.claim(8)
    assert (claims, claims.next_due) == ([], clock.now() + 2000)
    clock.move(2)
    again = await one(store)
    assert (again.seq, again.attempts, again.crashes) == (claim.seq, 1, 0)
    assert again.fence == claim.fence + 1


async def test_an_outage_burns_no_attempt(store: Store, clock: HandClock) -> None:
    await store.accept(event("1"))
    await store.retry(await one(store), Failed(error="down", outage=True), at=clock.now())
    assert (await one(store)).attempts == 0


async def test_a_released_claim_is_neither_crash_nor_attempt(store: Store) -> None:
    await store.accept(event("1"))
    await store.release(await one(store))
    claim = await one(store)
    assert (claim.attempts, claim.crashes) == (0, 0)


async def test_a_claim_that_never_ended_is_a_crash(opening: Opener) -> None:
    async with opening(lease=0.0) as store:
        await store.accept(event("1"))
        await one(store)
    for crashes in (1, 2, 3):
        async with opening(lease=0.0) as store:
            assert await store.recover() == 1
            assert (await one(store)).crashes == crashes


async def test_a_dead_event_leaves_a_notice_and_the_next_one_runs(store: Store) -> None:
    first = await store.accept(event("1"))
    await store.accept(event("2"))
    notice = Outgoing(ordinal="notice", address="console:a", text="I could not.", kind="notice")
    await store.bury(await one(store), "ValueError: no", notice)
    shown = await store.event(first.seq)
    assert shown is not None
    assert (shown["state"], shown["error"]) == ("failed", "ValueError: no")
    assert shown["reply"] == "I could not."
    assert [reply.text for reply in await store.take_replies(8)] == ["I could not."]
    assert (await one(store)).event.text == "2"


async def test_a_zombie_writes_nothing(store: Store) -> None:
    accepted = await store.accept(event("1"))
    stale = await one(store)
    await store.release(stale)
    fresh = await one(store)
    key: dict[str, Any] = {
        "thread_key": "console/a",
        "event_seq": accepted.seq,
        "tool": "t",
        "digest": "d",
    }
    for write in (
        store.finish(stale, DONE),
        store.park(stale, Parked(waits=(question(),))),
        store.retry(stale, Failed(error="x"), at=0),
        store.bury(stale, "x", None),
        store.release(stale),
        store.merge(stale, []),
        store.begin_effect(key="k", fence=stale.fence, **key),
    ):
        with pytest.raises(LeaseLost):
            await write
    assert await store.take_replies(8) == []
    assert await store.view.waits() == []
    assert await store.view.effects() == []
    assert await store.heartbeat() == {("console/a", fresh.fence)}
    await store.finish(fresh, DONE)
    with pytest.raises(LeaseLost):
        await store.finish(fresh, DONE)
    assert len(await store.take_replies(8)) == 1


async def test_merged_events_end_with_the_one_they_joined(store: Store, opening: Opener) -> None:
    first = await store.accept(event("1"))
    second, third = await store.accept(event("2")), await store.accept(event("3"))
    claim = await one(store)
    joined = await store.merge(claim, [second.seq, third.seq, 999])
    assert [(seq, one.text) for seq, one in joined] == [(second.seq, "2"), (third.seq, "3")]
    await store.release(claim)
    claim = await one(store)
    assert [one.text for _, one in claim.merged] == ["2", "3"]
    await store.finish(claim, DONE)
    assert await store.claim(8) == []
    shown = await store.event(second.seq)
    assert shown is not None
    assert (shown["state"], shown["merged_into"]) == ("merged", first.seq)


async def test_a_fresh_event_gets_a_graph_thread_of_its_own_once(store: Store) -> None:
    await store.accept(event("1"))
    claim = await one(store)
    await store.finish(claim, Done(replies=(answer(),), fingerprint="f1"))
    new = await store.accept(event("new", fresh=True))
    again = await one(store)
    assert again.graph_id != claim.graph_id
    assert again.fingerprint is None
    await store.release(again)
    assert (await one(store)).graph_id == again.graph_id
    assert again.seq == new.seq


async def test_the_fingerprint_is_kept_with_the_thread(store: Store, clock: HandClock) -> None:
    await store.accept(event("1"))
    await store.retry(await one(store), Failed(error="x", fingerprint="f1"), at=clock.now())
    claim = await one(store)
    assert claim.fingerprint == "f1"
    await store.finish(claim, Done(replies=(answer(),), fingerprint="f2"))
    await store.accept(event("2"))
    assert (await one(store)).fingerprint == "f2"


async def test_steps_and_messages_tell_what_happened(store: Store, clock: HandClock) -> None:
    accepted = await store.accept(event("1"))
    step = Step(kind="tool", agent="main", name="send", started_at=1, ended_at=2, cost=0.25)
    said = Message(role="assistant", text="Done.", at=clock.now())
    await store.finish(
        await one(store), Done(replies=(answer("Done."),), steps=(step,), messages=(said,))
    )
    run = await store.view.run(accepted.seq)
    assert run is not None
    assert [one["name"] for one in run["steps"]] == ["send"]
    assert [(m.role, m.text) for m in await store.view.messages("console/a")] == [
        ("user", "1"),
        ("assistant", "Done."),
    ]


async def test_a_cancelled_claim_is_given_back(store: Store) -> None:
    await store.accept(event("1"))
    asking = asyncio.ensure_future(store.claim(1))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    store.work.clear()
    async with asyncio.timeout(10):
        while not (claims := await store.claim(1)):
            await store.work.wait()
            store.work.clear()
    assert claims[0].event.text == "1"


async def test_a_decision_wakes_the_parked_run(store: Store) -> None:
    accepted = await store.accept(event("1"))
    claim = await one(store)
    await store.park(claim, Parked(waits=(question(),)))
    assert (await store.event(accepted.seq) or {})["state"] == "waiting"
    [card] = await store.take_replies(8)
    assert (card.kind, card.ordinal, card.wait) == ("ask", "ask:w1", question())
    await store.sent(card, Receipt("1"))
    assert await store.claim(8) == []
    decision = Decision(verdict="approve", by="console:operator", digest="d1")
    await store.decide("w1", decision, key="console/d1")
    resumed = await one(store)
    assert resumed.decisions == {"w1": decision}
    await store.finish(resumed, Done(replies=(answer(),), applied=("w1",)))
    wait = await store.wait("w1")
    assert wait is not None
    assert wait.state == "applied"
