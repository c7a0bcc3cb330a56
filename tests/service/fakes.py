"""A clock that tests move by hand, a scripted agent, and a channel that counts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from wakeful.errors import Drained
from wakeful.events import (
    Claim,
    Done,
    Event,
    Health,
    Message,
    Outcome,
    Outgoing,
    Receipt,
    Reply,
    Update,
)
from wakeful.host import Clock
from wakeful.store import Store, open_store
from wakeful.worker import Agent, Emit, Limits, Worker

Play = Callable[[Claim], Awaitable[Outcome]]
NOW = 1_800_000_000_000  # ms


class HandClock:
    """Wall time and boot time go on together, when told to."""

    def __init__(self, now: int = NOW) -> None:
        self._now, self._boot = now, 1000.0

    def now(self) -> int:
        return self._now

    def boot(self) -> float:
        return self._boot

    def move(self, seconds: float) -> None:
        self._now += int(seconds * 1000)
        self._boot += seconds


class Script:
    """An agent whose behaviour is a function; it keeps a record of what it was asked."""

    def __init__(self, play: Play | None = None) -> None:
        self.play = play or echo
        self.ran: list[str] = []
        self.repaired: list[tuple[int, str]] = []
        self.emits: list[Emit | None] = []
        self.now, self.most = 0, 0

    async def run(self, claim: Claim, *, emit: Emit | None, stop: asyncio.Event | None) -> Outcome:
        self.ran.append(claim.event.text)
        self.emits.append(emit)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await self.play(claim)
        finally:
            self.now -= 1

    async def repair(self, claim: Claim, text: str) -> None:
        self.repaired.append((claim.seq, text))


class Patient(Script):
    """Works until it is asked to stop, then ends at its safe point."""

    def __init__(self) -> None:
        super().__init__()
        self.working = asyncio.Event()

    async def run(self, claim: Claim, *, emit: Emit | None, stop: asyncio.Event | None) -> Outcome:
        self.ran.append(claim.event.text)
        self.working.set()
        assert stop is not None
        await stop.wait()
        raise Drained


async def echo(claim: Claim) -> Outcome:
    return done(claim, f"you said {claim.event.text}")


def done(claim: Claim, text: str, *, at: int = NOW) -> Done:
    address = claim.event.address
    reply = Outgoing(ordinal=f"final/{address}/0", address=address, text=text)
    said = Message(role="assistant", text=text, at=at, event_seq=claim.seq)
    return Done(replies=(reply,) if address else (), messages=(said,), fingerprint="f1")


def event(text: str, *, thread: str = "a", **more: Any) -> Event:
    values: dict[str, Any] = {
        "source": "console",
        "keys": (f"console/{thread}/{text}",),
        "principal": "console:operator",
        "thread_key": f"console/{thread}",
        "text": text,
        "channel": "console",
        "address": f"console:{thread}",
    }
    return Event(**values | more)


class Box:
    """A channel that keeps what it was sent, and does what it is told."""

    def __init__(self) -> None:
        self.sent: list[Reply] = []
        self.amended: list[tuple[str, str]] = []  # which message, and what it says now
        self.there: dict[int, Receipt] = {}  # what `find` finds
        self.looked_for: list[int] = []
        self.errors: list[Exception] = []  # raised one by one before anything is sent
        self.health = Health(True)
        self.arrived = asyncio.Event()

    async def send(self, reply: Reply) -> Receipt:
        if self.errors:
            raise self.errors.pop(0)
        self.sent.append(reply)
        self.arrived.set()
        return Receipt(f"r{reply.id}")

    async def find(self, reply: Reply) -> Receipt | None:
        self.looked_for.append(reply.id)
        return self.there.get(reply.id)

    async def progress(self, claim: Claim, update: Update) -> None:
        return None

    async def amend(self, receipt: Receipt, reply: Reply) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.amended.append((receipt.id, reply.text))

    async def probe(self) -> Health:
        return self.health


def store_at(folder: Path, clock: Clock, *, owner: str = "me") -> Any:
    return open_store(f"sqlite:///{folder / 'state.db'}", clock=clock, owner=owner)


@asynccontextmanager
async def at_work(
    store: Store, agent: Agent, clock: Clock, *, recover: bool = True, **more: Any
) -> AsyncIterator[Worker]:
    """A worker that runs until the block is left, then is drained."""
    more.setdefault("limits", Limits())
    worker = Worker(store, agent, clock, **more)
    if recover:
        await store.recover()
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        await worker.drain(1.0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(true: Callable[[], Any], *, seconds: float = 10.0) -> None:
    """Wait for something that no event announces; `true` may be a coroutine function."""
    async with asyncio.timeout(seconds):
        while True:
            found = true()
            if await found if asyncio.iscoroutine(found) else found:
                return
            await asyncio.sleep(0.002)


async def rows(store: Store, sql: str, *params: Any) -> list[dict[str, Any]]:
    """What the tables say, for tests that look behind the view."""
    found = await store.db.run(
        lambda s: [dict(row) for row in s.raw.execute(sql, params).fetchall()], durable=False
    )
    return found


async def state_of(store: Store, seq: int) -> str:
    return str((await rows(store, "SELECT state FROM inbox WHERE seq = ?", seq))[0]["state"])


async def ended(store: Store, *seqs: int) -> None:
    """Wait until these events have ended."""
    marks = ", ".join("?" for _ in seqs)
    query = f"SELECT seq FROM inbox WHERE seq IN ({marks}) AND done_at IS NULL"

    async def over() -> bool:
        return not await rows(store, query, *seqs)

    await until(over)
