"""A channel that hangs or backs off takes its own share, and nobody else's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.courier.post import QUICK, failed_once, out, queue, states
from tests.service.fakes import Box, HandClock, until
from wakeful.backoff import Backoff
from wakeful.courier import Courier, Policy
from wakeful.errors import RetryLater
from wakeful.events import Outgoing, Receipt, Reply
from wakeful.store import Store


class Hung(Box):
    """A channel whose other end never answers; its time-out is far away."""

    async def send(self, reply: Reply) -> Receipt:
        self.sent.append(reply)
        await asyncio.Event().wait()
        raise AssertionError


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
