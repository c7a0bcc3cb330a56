"""Claiming from a thread with 10,000 waiting events against one with 10."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import median

from wakeful.events import Done, Event
from wakeful.service.time import SystemClock
from wakeful.store import Store, open_store

ROUNDS = 200
FEW, MANY = 10, 10_000


def _event(number: int) -> Event:
    return Event(
        source="bench",
        keys=(f"bench/{number}",),
        principal="bench:one",
        thread_key="bench/thread",
        text="hello",
    )


async def _claims(store: Store) -> float:
    """Median seconds for one claim; each claimed event is finished, which brings up the next."""
    spent = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        (claim,) = await store.claim(1)
        spent.append(time.perf_counter() - begin)
        await store.finish(claim, Done(silent="bench"))
    return median(spent)


async def _with_backlog(folder: Path, backlog: int) -> float:
    clock = SystemClock()
    url = f"sqlite:///{folder}/claim-{backlog}.db"
    async with open_store(url, clock=clock, owner="bench") as store:
        for start in range(0, backlog + ROUNDS, 500):
            end = min(start + 500, backlog + ROUNDS)
            await asyncio.gather(*(store.accept(_event(number)) for number in range(start, end)))
        return await _claims(store)


def measure(folder: Path) -> dict[str, float]:
    """Milliseconds for one claim, with few and with many waiting, and their ratio."""
    few = asyncio.run(_with_backlog(folder, FEW))
    many = asyncio.run(_with_backlog(folder, MANY))
    return {"few_ms": few * 1000, "many_ms": many * 1000, "ratio": many / few}
