"""The courier with the real store and a channel that does what it is told."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from tests.courier.post import QUICK, failed_once, out, queue, reach, states
from tests.service.fakes import Box, HandClock, event, rows, store_at, until
from wakeful.backoff import Backoff
from wakeful.channel import Channel
from wakeful.courier import Courier, Policy
from wakeful.errors import Refused, RetryLater, StoreFull
from wakeful.events import Outgoing, Receipt, Reply
from wakeful.store import Store


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


async def test_a_channel_that_calls_exit_ends_nobody(store: Store, clock: HandClock) -> None:
    class Exiting(Box):
        async def send(self, reply: Reply) -> Receipt:
            raise SystemExit(3)

    await queue(store, "hello")
    async with out(store, clock, {"console": Exiting()}):
        assert (await failed_once(store))["last_error"] == "SystemExit: 3"


async def test_what_a_channel_sent_without_a_receipt_is_not_sent_again(
    store: Store, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Careless(Box):
        async def send(self, reply: Reply) -> Receipt:
            self.sent.append(reply)
            return None  # type: ignore[return-value]

    box = Careless()
    await queue(store, "one", "two")
    async with out(store, clock, {"console": box}):
        await reach(store, "sent", "sent")
    assert [reply.text for reply in box.sent] == ["one", "two"]
    assert "returned no Receipt" in caplog.text
