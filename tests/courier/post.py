"""Replies that wait to be sent, and a courier that is out with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.service.fakes import HandClock, event, rows, until
from wakeful.backoff import Backoff
from wakeful.channel import Channel
from wakeful.courier import Courier, Policy
from wakeful.events import Outgoing
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
