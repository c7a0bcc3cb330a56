"""What a worker needs to know: the agent that it is given, and the limits that it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from wakeful.events import Claim, Outcome, Update

Emit = Callable[[Update], None]
Settle = Callable[[Claim], Awaitable[None]]  # a run has ended, its outcome is not written yet

SUSPECT = 2  # claims that never ended, after which an event is run by itself
CRASHES = 5  # claims of one event that never ended; the next claim buries it


class Agent(Protocol):
    """Something that can work on a claim: the deep agent, or a script in a test."""

    async def run(self, claim: Claim, *, emit: Emit | None, stop: asyncio.Event | None) -> Outcome:
        """Run or resume one event. Raises Drained at the next safe point once `stop` is set."""
        ...

    async def repair(self, claim: Claim, text: str) -> None:
        """Close what the event left open in its graph thread, so that the next event can run."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one event may take; `[limits]` and `[alerts]` of agent.toml."""

    concurrency: int = 8  # threads that run side by side
    seconds: float = 900.0  # of one attempt
    attempts: int = 5  # exceptions before an event is dead
    alerts: tuple[str, ...] = ()  # addresses for a notice that has no other way
