"""Supervision: a part that breaks is opened again after a pause, and given up when it never holds.

One broken part says so once and stops nobody else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, Literal, TypeVar

from wakeful.backoff import Backoff
from wakeful.errors import WakefulError
from wakeful.events import Health
from wakeful.host import Clock
from wakeful.redact import redact

log = logging.getLogger(__name__)

REOPEN = Backoff(first=1.0, cap=60.0)  # seconds between attempts to open a part
CIRCUIT = 8  # failures in a row after which only a change of its settings, or time, helps
COOL = 900.0  # seconds until an open circuit is tried once more
STABLE = 60.0  # seconds that a part must hold to count as well again
OPENING = 60.0  # seconds that opening may take
CLOSING = 10.0  # seconds that closing may take
PROBE_EVERY = 60.0  # seconds

T = TypeVar("T")
Told = Callable[[str], Awaitable[None]]
State = Literal["opening", "open", "broken", "circuit-open", "closed"]


async def _nobody(sentence: str) -> None:
    return None


class Supervised(Generic[T]):
    """One part: opened, watched, closed and opened again."""

    def __init__(
        self,
        name: str,
        opener: Callable[[], AbstractAsyncContextManager[T]],
        *,
        clock: Clock,
        probe: Callable[[T], Awaitable[Health]],
        changed: Callable[[T | None], None],
        backoff: Backoff = REOPEN,
        circuit: int = CIRCUIT,
        redact: Callable[[str], str] = redact,
        gave_up: Told = _nobody,
    ) -> None:
        self.name, self._opener, self._clock = name, opener, clock
        self._probe, self._changed = probe, changed
        self._backoff, self._circuit, self._redact = backoff, circuit, redact
        self._gave_up, self._told = gave_up, False
        self.state: State = "opening"
        self.error = ""
        self.failures = 0
        self.tried = asyncio.Event()  # set once the first attempt has ended, well or not

    async def run(self) -> None:
        """Keep the part open until cancelled."""
        try:
            while True:
                opened = self._clock.boot()
                error = await self._once()
                if self._clock.boot() - opened >= STABLE and self.error == "":
                    self.failures, self._told = 0, False
                await asyncio.sleep(await self._fail(error))
        finally:
            self.state = "closed"

    async def _once(self) -> str:
        """Open it and stay until it breaks; returns why."""
        broken = ""
        try:
            async with asyncio.timeout(OPENING) as bound, self._opener() as part:
                bound.reschedule(None)
                self._up(part)
                try:
                    broken = await self._until_broken(part)
                finally:
                    self._changed(None)
                    bound.reschedule(asyncio.get_running_loop().time() + CLOSING)
        except (Exception, SystemExit) as error:  # one that would end the daemon, too
            return broken or _why(error)
        return broken

    def _up(self, part: T) -> None:
        self.state, self.error = "open", ""
        self._changed(part)
        self.tried.set()
        log.info("%s is open.", self.name, extra={"action": "part_open", "part": self.name})

    async def _until_broken(self, part: T) -> str:
        while True:
            await asyncio.sleep(PROBE_EVERY)
            async with asyncio.timeout(OPENING):
                health = await self._probe(part)
            if not health.ok:
                return health.detail or "its probe failed"

    async def _fail(self, error: str) -> float:
        """Note a failure; returns the pause before the next attempt."""
        self.failures += 1
        self.error = self._redact(error)
        self.tried.set()
        if self.failures >= self._circuit:
            self.state = "circuit-open"
            await self._say_once()
            return COOL
        self.state = "broken"
        pause = self._backoff.delay(self.failures)
        log.warning(
            "%s is broken and is opened again in %.0f s: %s",
            self.name,
            pause,
            self.error,
            extra={"action": "part_broken", "part": self.name, "failures": self.failures},
        )
        return pause

    async def _say_once(self) -> None:
        """One clear error for all of its failures, until it has held for a while."""
        if self._told:
            return
        self._told = True
        sentence = (
            f"{self.name} failed {self.failures} times in a row and is left alone until its "
            f"settings change (or for {COOL / 60:.0f} minutes): {self.error}"
        )
        log.error("%s", sentence, extra={"action": "part_circuit_open", "part": self.name})
        await self._gave_up(sentence)


def _why(error: BaseException) -> str:
    """Our own errors are sentences; of others the kind says more than the text."""
    name, said = type(error).__name__, str(error)
    if isinstance(error, WakefulError) and said:
        return said
    return f"{name}: {said}" if said else name
