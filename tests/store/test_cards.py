"""A card that was delivered shows how its question ended, whoever answered it and where."""

from __future__ import annotations

from typing import Any

from tests.store.conftest import HandClock, answer, event, question
from wakeful.events import Decision, Done, Parked, Receipt, Reply
from wakeful.store import Store

NO = Decision(verdict="reject", by="slack:T1:U7", digest="d1", reason="too much")


async def asked(store: Store, *, receipt: str | None = "card-1", **fields: Any) -> Reply:
    """A question whose card is with its reader."""
    await store.accept(event("1", principal="slack:T1:U7"))
    [claim] = await store.claim(1)
    await store.park(claim, Parked(waits=(question(**fields),)))
    [card] = await store.take_replies(8)
    if receipt:
        await store.sent(card, Receipt(receipt))
    return card


async def test_a_decision_changes_the_card(store: Store) -> None:
    await asked(store)
    await store.decide("w1", NO, key="slack/decision/1")
    [change] = await store.take_replies(8)
    assert change.kind == "decided" and change.wait is not None
    assert change.text == "Refund A-1001? Rejected by slack:T1:U7: too much."
    assert await store.card_of(change) == Receipt("card-1")


async def test_the_same_click_twice_changes_it_once(store: Store) -> None:
    await asked(store)
    for _ in range(2):
        await store.decide("w1", NO, key="slack/decision/1")
    assert len(await store.take_replies(8)) == 1
    assert await store.take_replies(8) == []


async def test_a_change_waits_behind_its_card(store: Store) -> None:
    card = await asked(store, receipt=None)
    await store.decide("w1", NO, key="slack/decision/1")
    assert await store.take_replies(8) == []
    await store.sent(card, Receipt("late"))
    [change] = await store.take_replies(8)
    assert await store.card_of(change) == Receipt("late")


async def test_a_card_that_never_arrived_is_not_changed(store: Store) -> None:
    card = await asked(store, receipt=None)
    await store.undeliverable(card, "no such channel")
    await store.decide("w1", NO, key="slack/decision/1")
    assert await store.take_replies(8) == []


async def test_a_question_that_expired_says_so(store: Store, clock: HandClock) -> None:
    await asked(store, expires_at=clock.now() + 1000)
    clock.move(1)
    store.mail.clear()
    [claim] = await store.claim(1)
    assert store.mail.is_set() and claim.decisions["w1"].verdict == "reject"
    [change] = await store.take_replies(8)
    assert change.text == "Refund A-1001? Nobody answered in time."


async def test_a_question_of_an_event_that_ended_is_withdrawn_before_the_answer(
    store: Store,
) -> None:
    card = await asked(store)
    await store.stop(card.event_seq)
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer("stopped"),)))
    [change] = await store.take_replies(8)
    assert change.text == "Refund A-1001? This is not asked any more."
    await store.sent(change, Receipt("card-1"))
    assert [reply.text for reply in await store.take_replies(8)] == ["stopped"]


async def test_a_change_that_cannot_be_delivered_is_not_a_reply_that_was_lost(
    store: Store,
) -> None:
    await asked(store)
    await store.decide("w1", NO, key="slack/decision/1")
    [change] = await store.take_replies(8)
    await store.undeliverable(change, "the post is gone")
    [claim] = await store.claim(1)
    assert claim.undelivered == ()
