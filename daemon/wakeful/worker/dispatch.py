"""The worker: fills its free places with claims, keeps their leases alive, drains at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from wakeful.backoff import Backoff
from wakeful.errors import StoreBroken
from wakeful.events import Claim, Update
from wakeful.host import Clock
from wakeful.redact import redact
from wakeful.store import Store
from wakeful.worker.agent import CRASHES, SUSPECT, Agent, Emit, Limits, Settle
from wakeful.worker.breaker import Breaker
from wakeful.worker.run import RETRY, Runner, Running

log = logging.getLogger(__name__)

LOOK = 30.0  # seconds; the longest sleep before the clock is looked at again
SHORTEST = 0.001  # seconds; a due moment is never waited for in a busy loop
STOP_GRACE = 10.0  # seconds that a stopped run may take to reach a safe point
WRITE_GRACE = 5.0  # seconds for the last writes after a drain's deadline
TROUBLE = Backoff(first=1.0, cap=30.0)  # seconds between claims while the store refuses


class Spawn(Protocol):
    """How a run becomes a task."""

    def __call__(
        self, work: Coroutine[Any, Any, None], /, *, name: str | None = None
    ) -> asyncio.Task[None]: ...


def _nobody(claim: Claim) -> Emit | None:
    return None


async def _nothing(claim: Claim) -> None:
    return None


def _unheard(update: Update) -> None:
    return None


def suspect(claim: Claim) -> bool:
    """Whether this event may be what kills the daemon: it was there more than once when it died."""
    return SUSPECT <= claim.crashes < CRASHES


class Worker:
    """Runs what the inbox holds: one event per thread, `concurrency` threads side by side."""

    def __init__(
        self,
        store: Store,
        agent: Agent,
        clock: Clock,
        *,
        limits: Limits | None = None,
        breaker: Breaker | None = None,
        watch: Callable[[Claim], Emit | None] = _nobody,
        settle: Settle = _nothing,
        publish: Emit = _unheard,
        spawn: Spawn = asyncio.create_task,
        lease: float = 30.0,
        retry: Backoff = RETRY,
        hide: Callable[[str], str] = str,
        redact: Callable[[str], str] = redact,
    ) -> None:
        self._store, self._clock, self._lease = store, clock, lease
        self._spawn = spawn
        self.breaker = breaker or Breaker(clock)
        self.runner = Runner(
            store,
            agent,
            clock,
            limits=limits or Limits(),
            breaker=self.breaker,
            watch=watch,
            settle=settle,
            publish=publish,
            retry=retry,
            hide=hide,
            redact=redact,
        )
        self._bell = store.work
        self._draining = False
        self._careful = False  # a suspect waits until nothing else runs
        self._starved = False  # there may be work, and there was no room for it
        self.running: dict[int, Running] = {}
        self.alive = False
        self._to_stop: set[int] = set()  # events that were being claimed when they were stopped
        self._refusals = 0  # of the store, in a row

    @property
    def limits(self) -> Limits:
        return self.runner.limits

    def set_limits(self, limits: Limits) -> None:
        """Use other limits from the next claim on."""
        self.runner.limits = limits
        self.wake()

    def wake(self) -> None:
        """Something may be ready: look now."""
        self._bell.set()

    async def stop(self, seq: int) -> bool:
        """End one event at its next safe point, or when it is claimed; False: it has ended.

        The store knows first, so that a restart in between changes nothing about it.
        """
        if not await self._store.stop(seq):
            return False
        running = self.running.get(seq)
        if running is None:
            self._to_stop.add(seq)
        else:
            running.ask("stop")
            asyncio.get_running_loop().call_later(STOP_GRACE, running.cancel, "stop")
        return True

    async def run(self) -> None:
        """Work until cancelled or drained."""
        beat = asyncio.create_task(self._beat(), name="worker-heartbeat")
        self.alive = True
        try:
            while not self._draining:
                self._bell.clear()
                nap = await self._fill()
                with suppress(TimeoutError):
                    async with asyncio.timeout(nap):
                        await self._bell.wait()
        finally:
            self.alive = False
            beat.cancel()
            await asyncio.gather(beat, return_exceptions=True)

    async def drain(self, seconds: float) -> None:
        """Claim nothing more; let running steps end within the time, then cut off the rest."""
        self._draining = True
        self.wake()
        for running in list(self.running.values()):
            running.ask("drain")
        if await self._emptied(seconds):
            return
        for running in list(self.running.values()):
            running.cancel("drain")
        if not await self._emptied(WRITE_GRACE):
            for running in list(self.running.values()):
                if running.task:
                    running.task.cancel()
            await self._emptied(WRITE_GRACE)

    async def _emptied(self, seconds: float) -> bool:
        tasks = [r.task for r in self.running.values() if r.task]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        return not self.running

    async def _fill(self) -> float:
        """Claim for every free place; returns how long nothing else will be due, in seconds."""
        free = self._room()
        self._starved = free <= 0
        if self._starved:
            return self.breaker.pause() or LOOK
        try:
            claims = await self._store.claim(free)
            for claim in await self._with_suspects_alone(claims):
                self._start(claim)
        except Exception as error:
            return self._refused(error)
        self._refusals = 0
        self._starved = len(claims) >= free or self._careful
        due = claims.next_due
        if due is None:
            return LOOK
        return min(LOOK, max(SHORTEST, (due - self._clock.now()) / 1000))

    def _room(self) -> int:
        """How many claims may start now. Beside a suspect, or before one, nothing else does."""
        alone = any(suspect(running.claim) for running in self.running.values())
        if self.running and (alone or self._careful):
            return 0
        self._careful = False
        return self.breaker.room(self.limits.concurrency - len(self.running))

    async def _with_suspects_alone(self, claims: list[Claim]) -> list[Claim]:
        """What to start of these. A suspect runs by itself, and takes nobody down with it."""
        found = [claim for claim in claims if suspect(claim)]
        if not found:
            return claims
        chosen = [] if self.running else found[:1]
        self._careful = not chosen
        for claim in claims:
            if claim not in chosen:
                await self._store.release(claim)
        return chosen

    def _start(self, claim: Claim) -> None:
        running = Running(claim)
        if claim.stopped or claim.seq in self._to_stop:
            running.ask("stop")
        self._to_stop.discard(claim.seq)
        self.running[claim.seq] = running
        self.breaker.started(claim.seq)
        running.task = self._spawn(self._one(running), name=f"event-{claim.seq}")

    async def _one(self, running: Running) -> None:
        try:
            await self.runner.work(running)
        except StoreBroken as error:
            self._refused(error)
        except Exception as error:
            log.exception(
                "The outcome of event %d could not be recorded.",
                running.claim.seq,
                extra={"action": "outcome_lost", "event": running.claim.seq},
            )
            await self.runner.rescue(running.claim, error)
        finally:
            del self.running[running.claim.seq]
            if self._starved:
                self.wake()

    def _refused(self, error: Exception) -> float:
        self._refusals += 1
        pause = TROUBLE.delay(self._refusals)
        log.error(
            "The store refuses; claiming pauses for %.0f s: %s",
            pause,
            error,
            exc_info=not isinstance(error, StoreBroken),
            extra={"action": "claim_paused"},
        )
        return pause

    async def _beat(self) -> None:
        """Keep the leases of running claims; end what another worker has taken over."""
        while True:
            await asyncio.sleep(self._lease / 3)
            try:
                if self.running:
                    await self._keep()
                if not self._store.alone:  # another daemon on this database may have died
                    await self._store.recover()
            except Exception as error:
                log.error("No heartbeat: %s", error, extra={"action": "heartbeat_failed"})

    async def _keep(self) -> None:
        held, lasts = list(self.running.values()), self._store.lasts()
        mine = await self._store.heartbeat()
        for running in held:
            if (running.claim.thread_key, running.claim.fence) in mine:
                running.claim.lease.until = lasts
            else:
                running.cancel("lost")
