"""What is said of a question, where it was asked, once it is decided."""

from __future__ import annotations

from tests.courier.post import failed_once, out, reach
from tests.service.fakes import Box, HandClock, event
from wakeful.channel import Channel
from wakeful.errors import Refused, RetryLater
from wakeful.events import Decision, Parked, WaitRequest
from wakeful.store import Store


async def asked(store: Store) -> None:
    """A run that waits for a person, its card in the outbox."""
    request = WaitRequest(id="w1", kind="approval", title="May I?", digest="d1")
    await store.accept(event("pay"))
    [claim] = await store.claim(1)
    await store.park(claim, Parked(waits=(request,)))


async def decide(store: Store) -> None:
    yes = Decision(verdict="approve", by="console:operator", digest="d1")
    await store.decide("w1", yes, key="console/decision/1")


async def test_a_decided_card_is_amended_where_it_was_delivered(
    store: Store, clock: HandClock
) -> None:
    box = Box()
    async with out(store, clock, {"console": box}):
        await asked(store)
        await reach(store, "sent")
        box.errors = [RetryLater("busy")]
        await decide(store)
        await failed_once(store)
        clock.move(5)
        store.wake_mail()
        await reach(store, "sent", "sent")
    assert [reply.kind for reply in box.sent] == ["ask"]
    assert box.amended == [("r1", "May I? Approved by console:operator.")]


async def test_a_card_that_cannot_be_amended_alarms_nobody(store: Store, clock: HandClock) -> None:
    box, other = Box(), Box()
    channels: dict[str, Channel] = {"console": box, "pager": other}
    async with out(store, clock, channels, routes=("pager:me",)):
        await asked(store)
        await reach(store, "sent")
        box.errors = [Refused("the post is gone")]
        await decide(store)
        await reach(store, "sent", "dead")
    assert box.amended == [] and other.sent == []
