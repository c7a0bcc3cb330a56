"""The courier with the real store and a channel that does what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.service.fakes import Box, HandClock, event, rows, store_at, until
from wakeful.backoff import Backoff
from wakeful.channel import Channel
from wakeful.courier import Courier, Policy
from wakeful.errors import Refused, RetryLater, StoreFull
from wakeful.events import Decision, Outgoing, Parked, Receipt, Reply, WaitRequest
from wakeful.store import Store

QUICK = Policy(backoff=Backoff(first=1.0, cap=1.0))


async def queue(store: Store, *texts: str, thread: str = "a") -> int:
    """An event with replies that wait to be sent."""
    seq = (await store.accept(event(texts[0], thread=thread))).seq
    for number, text in enumerate(texts):
        outgoing = Outgoing(ordinal=f"final/{number}", address=f"console:{thread}", text=text)
        await store.post(outgoing, event_seq=seq, thread_key=f"console/{thread}")
    return seq


@asynccontextmanager
async def out(
    store: Store, clock: HandClock, channels: dict[str, Channel], **more: Any
) -> AsyncIterator[Courier]:
    more.setdefault("policy", QUICK)
    courier = Courier(store, channels, clock, **more)
    task = asyncio.create_task(courier.run())
    try:
        yield courier
    finally:
        await courier.drain(1.0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def states(store: Store) -> list[str]:
    return [row["state"] for row in await rows(store, "SELECT state FROM outbox ORDER BY id")]


async def reach(store: Store, *wanted: str) -> None:
    async def there() -> bool:
        return await states(store) == list(wanted)

    await until(there)


async def failed_once(store: Store) -> dict[str, Any]:
    """The first row, once its first attempt has failed."""
    found: list[dict[str, Any]] = []

    async def noted() -> bool:
        found[:] = await rows(store, "SELECT * FROM outbox WHERE last_error IS NOT NULL")
        return bool(found)

    await until(noted)
    return found[0]


async def test_a_reply_is_sent_and_its_receipt_kept(store: Store, clock: HandClock) -> None:
    box = Box()
    async with out(store, clock, {"console": box}):
        await queue(store, "hello")
        await reach(store, "sent")
    assert [reply.text for reply in box.sent] == ["hello"]
    assert [r["receipt"] for r in await rows(store, "SELECT receipt FROM outbox")] == ["r1"]
    assert box.looked_for == []


async def test_replies_of_one_address_keep_their_order(store: Store, clock: HandClock) -> None:
    box = Box()
    await queue(store, "one", "two", "three", "four")
    async with out(store, clock, {"console": box}):
        await reach(store, *["sent"] * 4)
    assert [reply.text for reply in box.sent] == ["one", "two", "three", "four"]


async def test_what_fails_blocks_its_lane_and_nobody_else(store: Store, clock: HandClock) -> None:
    slow, box = Box(), Box()
    slow.errors = [RetryLater("busy", after=30)]
    await queue(store, "one", "two")
    await queue(store, "other", thread="b")

    class Two(Box):
        async def send(self, reply: Reply) -> Receipt:
            return await (slow if reply.where == "a" else box).send(reply)

    async with out(store, clock, {"console": Two()}) as courier:
        await reach(store, "queued", "queued", "sent")
        clock.move(29)
        courier.wake()
        await asyncio.sleep(0)
        assert slow.sent == []
        clock.move(2)
        courier.wake()
        await reach(store, "sent", "sent", "sent")
    assert [reply.text for reply in slow.sent] == ["one", "two"]


async def test_P20_a_retry_after_is_obeyed(store: Store, clock: HandClock) -> None:
    box = Box()
    box.errors = [RetryLater("429", after=120)]
    await queue(store, "hello")
    async with out(store, clock, {"console": box}):
        row = await failed_once(store)
    assert row["next_at"] - clock.now() == 120_000 and row["last_error"] == "429"


async def test_a_second_attempt_looks_before_it_sends(store: Store, clock: HandClock) -> None:
    box = Box()
    box.errors = [ConnectionResetError("cut off after the data")]
    box.there[1] = Receipt("found")
    await queue(store, "hello")
    async with out(store, clock, {"console": box}) as courier:
        await failed_once(store)
        clock.move(2)
        courier.wake()
        await reach(store, "sent")
    assert box.sent == [] and box.looked_for == [1]
    assert [r["receipt"] for r in await rows(store, "SELECT receipt FROM outbox")] == ["found"]


@pytest.mark.parametrize("there", [True, False])
async def test_D1_a_row_found_sending_is_looked_up_and_sent_once(
    tmp_path: Path, clock: HandClock, there: bool
) -> None:
    async with store_at(tmp_path, clock) as store:
        await queue(store, "hello")
        assert await store.take_replies(8)  # and the process is gone
    box = Box()
    if there:
        box.there[1] = Receipt("it was there")
    async with (
        store_at(tmp_path, clock, owner="next") as store,
        out(store, clock, {"console": box}),
    ):
        await reach(store, "sent")
    assert box.looked_for == [1]
    assert len(box.sent) == (0 if there else 1)


async def test_a_doubtful_reply_waits_for_its_channel(tmp_path: Path, clock: HandClock) -> None:
    async with store_at(tmp_path, clock) as store:
        await queue(store, "hello")
        assert await store.take_replies(8)
    channels: dict[str, Channel] = {}
    async with (
        store_at(tmp_path, clock, owner="next") as store,
        out(store, clock, channels, known={"console": None}) as courier,
    ):
        await until(lambda: courier._doubtful)
        assert await states(store) == ["sending"]
        channels["console"] = Box()
        courier.wake()
        await reach(store, "sent")


async def test_what_is_refused_is_dead_and_raises_an_alert_elsewhere(
    store: Store, clock: HandClock
) -> None:
    box, pager = Box(), Box()
    box.errors = [Refused("the recipient does not exist")]
    await queue(store, "hello")
    channels: dict[str, Channel] = {"console": box, "pager": pager}
    async with out(store, clock, channels, routes=("console:ops", "pager:ops")):
        await reach(store, "dead", "sent")
    assert len(pager.sent) == 1 and "the recipient does not exist" in pager.sent[0].text


def _left(box: Box, courier: Courier, errors: int) -> bool:
    return len(box.errors) == errors and not courier._flying


async def test_after_the_last_attempt_a_reply_is_dead(store: Store, clock: HandClock) -> None:
    box = Box()
    box.errors = [RetryLater("busy") for _ in range(3)]
    policy = Policy(attempts=3, backoff=Backoff(first=1.0, cap=1.0))
    await queue(store, "hello")
    async with out(store, clock, {"console": box}, policy=policy) as courier:
        for left in (2, 1):
            await until(partial(_left, box, courier, left))
            clock.move(2)
            courier.wake()
        await reach(store, "dead")


async def test_an_unknown_channel_is_dead_with_a_sentence(store: Store, clock: HandClock) -> None:
    await queue(store, "hello")
    async with out(store, clock, {}):
        await reach(store, "dead")
    [row] = await rows(store, "SELECT last_error FROM outbox")
    assert "there is no channel 'console'" in row["last_error"]


async def test_C26_a_broken_channel_keeps_its_replies_and_holds_up_no_other(
    store: Store, clock: HandClock
) -> None:
    box = Box()
    await queue(store, "for the broken one")
    channels: dict[str, Channel] = {"pager": box}
    async with out(store, clock, channels, known={"console": None, "pager": None}) as courier:
        await reach(store, "queued")
        for _ in range(QUICK.attempts + 3):  # down for longer than any patience
            clock.move(1000)
            courier.wake()
            await until(lambda: not courier._flying)
        seq = (await store.accept(event("x", thread="b"))).seq
        other = Outgoing(ordinal="n", address="pager:ops", text="goes out")
        await store.post(other, event_seq=seq, thread_key="console/b")
        await reach(store, "queued", "sent")
        channels["console"] = Box()
        clock.move(1000)
        courier.wake()
        await reach(store, "sent", "sent")


async def test_a_channel_that_hangs_is_given_up_in_time(store: Store, clock: HandClock) -> None:
    class Hung(Box):
        async def send(self, reply: Reply) -> Receipt:
            await asyncio.Event().wait()
            raise AssertionError("it was given up")

    policy = Policy(timeout=0.01, backoff=Backoff(first=60.0, cap=60.0))
    await queue(store, "hello")
    async with out(store, clock, {"console": Hung()}, policy=policy):
        row = await failed_once(store)
    assert row["state"] == "queued" and row["last_error"] == "TimeoutError: no answer in time"


async def test_a_receipt_that_cannot_be_written_is_looked_up_later(
    store: Store, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wakeful.courier.courier.UNWRITTEN", 0.001)
    box, sent, full = Box(), store.sent, [StoreFull()]
    box.there[1] = Receipt("r1")

    async def no_room(reply: Reply, receipt: Receipt) -> None:
        if full:
            raise full.pop()
        await sent(reply, receipt)

    monkeypatch.setattr(store, "sent", no_room)
    await queue(store, "hello")
    async with out(store, clock, {"console": box}):
        await reach(store, "sent")
    assert len(box.sent) == 1 and box.looked_for == [1]


async def test_a_drain_delivers_what_is_due(store: Store, clock: HandClock) -> None:
    box = Box()
    async with out(store, clock, {"console": box}):
        await queue(store, "one", "two", "three")
    assert await states(store) == ["sent", "sent", "sent"]


async def test_a_drain_does_not_wait_for_a_channel_that_hangs(
    store: Store, clock: HandClock
) -> None:
    class Hung(Box):
        async def send(self, reply: Reply) -> Receipt:
            self.arrived.set()
            await asyncio.Event().wait()
            raise AssertionError("it was cut off")

    box = Hung()
    await queue(store, "hello")
    courier = Courier(store, {"console": box}, clock, policy=QUICK)
    task = asyncio.create_task(courier.run())
    await box.arrived.wait()
    await courier.drain(0.01)
    await task
    assert await states(store) == ["sending"]  # looked up after the restart


class Hung(Box):
    """A channel whose other end never answers; its time-out is far away."""

    async def send(self, reply: Reply) -> Receipt:
        self.sent.append(reply)
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_channel_that_hangs_leaves_room_for_the_others(
    store: Store, clock: HandClock
) -> None:
    hung, box = Hung(), Box()
    seq = await queue(store, "early")
    for number in range(200):
        outgoing = Outgoing(ordinal=f"hung/{number}", address=f"hung:{number}", text="lost")
        await store.post(outgoing, event_seq=seq, thread_key=f"console/{number}")
    async with out(store, clock, {"console": box, "hung": hung}, policy=Policy()) as courier:
        await until(lambda: len(hung.sent) == courier.policy.per_channel)
        await queue(store, "late", thread="late")
        await until(lambda: [reply.text for reply in box.sent] == ["early", "late"])
    assert len(hung.sent) == courier.policy.per_channel


async def test_what_a_dead_daemon_left_with_a_channel_that_hangs_takes_its_share_only(
    store: Store, clock: HandClock, tmp_path: Path
) -> None:
    class Lost(Hung):
        async def find(self, reply: Reply) -> Receipt | None:
            await self.send(reply)
            return None

    seq = await queue(store, "early")
    for number in range(40):
        outgoing = Outgoing(ordinal=f"hung/{number}", address=f"hung:{number}", text="lost")
        await store.post(outgoing, event_seq=seq, thread_key=f"console/{number}")
    assert len(await store.take_replies(41)) == 41
    await store.db.run(lambda s: s.raw.execute("UPDATE outbox SET lease_owner = 'dead'"))
    hung, box = Lost(), Box()
    async with out(store, clock, {"console": box, "hung": hung}, policy=Policy()) as courier:
        await box.arrived.wait()
        await until(lambda: len(hung.sent) == courier.policy.per_channel)
    assert len(hung.sent) == courier.policy.per_channel


async def test_what_waits_behind_a_reply_that_backs_off_costs_nothing(
    store: Store, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, take = 0, store.take_replies

    async def counted(limit: int) -> list[Reply]:
        nonlocal looks
        looks += 1
        return await take(limit)

    monkeypatch.setattr(store, "take_replies", counted)
    box = Box()
    box.errors = [RetryLater("busy", after=600)]
    await queue(store, "one", "two")
    async with out(store, clock, {"console": box}):
        await failed_once(store)
        before = looks
        await asyncio.sleep(0.2)
        assert looks - before < 5
        assert await store.next_reply_due() == clock.now() + 600_000


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
