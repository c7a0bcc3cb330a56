"""A store, a clock that is moved by hand, and as many lives of the daemon as a test needs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from wakeful.clock import Timekeeper
from wakeful.events import Done, Event
from wakeful.host import Host
from wakeful.schedule import Rule
from wakeful.schedule.fires import utc_time
from wakeful.schedule.times import parse_at
from wakeful.store import FiringRow, Store, open_store


@dataclass
class Hands:
    """A clock that moves when it is told to; `boot` goes on with it."""

    ms: int

    def now(self) -> int:
        return self.ms

    def boot(self) -> float:
        return self.ms / 1000

    def set(self, text: str) -> None:
        self.ms = parse_at(text, "UTC")


def no_host(name: str) -> Host:
    raise AssertionError(f"{name} asked for a host")


@dataclass
class World:
    """One agent's store and clock, over as many lives of the daemon as a test needs."""

    path: Path
    hands: Hands
    rules: list[Rule] = field(default_factory=list)
    kept: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    seconds: float = 60.0
    host_for: Callable[[str], Host] = no_host

    def keeper(self, store: Store) -> Timekeeper:
        return Timekeeper(
            store, self.hands, self.host_for, alerts=self.alerts, seconds=self.seconds
        )

    @asynccontextmanager
    async def daemon(self, owner: str = "d") -> AsyncIterator[Daemon]:
        """A daemon's life, from its start to its end; the alarm clock is rung by the test."""
        url = f"sqlite:///{self.path / 'state.db'}"
        async with open_store(url, clock=self.hands, owner=owner) as store:
            keeper = self.keeper(store)
            await keeper.use(self.rules, kept=self.kept)
            await keeper.recover()
            yield Daemon(store, keeper, self.hands)
            await keeper.handlers.idle()


@dataclass
class Daemon:
    store: Store
    keeper: Timekeeper
    hands: Hands

    async def at(self, text: str) -> None:
        """Let it be that time, and look at the schedules."""
        self.hands.set(text)
        await self.keeper.tick()

    async def ledger(self, name: str) -> list[tuple[str, str]]:
        """When each firing was due and what its state is, oldest first."""
        return [(utc_time(row.due_at), row.state) for row in await self.firings(name)]

    async def firings(self, name: str) -> list[FiringRow]:
        return (await self.store.firings(name, limit=10_000))[::-1]

    async def next_at(self, name: str) -> str | None:
        rows = {row.name: row.next_at for row in await self.store.schedule_rows()}
        due = rows[name]
        return None if due is None else utc_time(due)

    async def answer(self) -> list[Event]:
        """Take what waits, answer it, and say what it was."""
        taken: list[Event] = []
        while claims := await self.store.claim(100):
            for claim in claims:
                taken.append(claim.event)
                await self.store.finish(claim, Done(silent="nothing new"))
        return taken


def rule(name: str, *, digest: str = "", **what: object) -> Rule:
    """A rule whose digest is that of what it says, as the parser makes it."""
    digest = digest or repr(sorted(what.items(), key=str))
    return Rule(name=name, digest=digest, prompt="Go.", **what)  # type: ignore[arg-type]
