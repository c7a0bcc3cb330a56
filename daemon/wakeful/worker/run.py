"""One claim, from its start to the row that says how it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal

from wakeful.backoff import Backoff
from wakeful.errors import Drained, LeaseLost, StoreBroken
from wakeful.events import Claim, Done, Failed, Outcome, Parked, Update
from wakeful.host import Clock
from wakeful.redact import everywhere, redact
from wakeful.store import STOPPED, Store
from wakeful.worker import notices
from wakeful.worker.agent import CRASHES, Agent, Emit, Limits, Settle
from wakeful.worker.breaker import Breaker

log = logging.getLogger(__name__)

Reason = Literal["", "drain", "stop", "lost"]

LONGEST = 3300.0  # seconds; a Retry-After beyond it is asked about once an hour
RETRY = Backoff(first=2.0, cap=300.0)  # seconds between attempts at one event
STORE = Backoff(first=1.0, cap=30.0)  # seconds between attempts to write an outcome


class Running:
    """One claim in the hands of this worker, and the ways to end it early."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.stop = asyncio.Event()
        self.reason: Reason = ""
        self.task: asyncio.Task[None] | None = None
        self._in_agent = False
        self._cancelled = False

    def ask(self, reason: Reason) -> None:
        """Ask the run to end at its next safe point."""
        self.reason = self.reason or reason
        self.stop.set()

    def cancel(self, reason: Reason) -> None:
        """End it now, unless it is writing its outcome already."""
        self.ask(reason)
        if self._in_agent and self.task is not None:
            self._cancelled = True
            self.task.cancel()

    async def through(self, work: Awaitable[Outcome]) -> Outcome:
        """Await the agent; a cancellation of ours comes out as Drained, others as they are."""
        self._in_agent = True
        try:
            return await work
        except asyncio.CancelledError:
            if not self._cancelled or self.task is None:
                raise
            self.task.uncancel()
            raise Drained from None
        finally:
            self._in_agent = False


class Runner:
    """Runs claims. It holds no state about them, so any number may run side by side."""

    def __init__(
        self,
        store: Store,
        agent: Agent,
        clock: Clock,
        *,
        limits: Limits,
        breaker: Breaker,
        watch: Callable[[Claim], Emit | None],
        settle: Settle,
        publish: Emit,
        retry: Backoff = RETRY,
        hide: Callable[[str], str] = str,
        redact: Callable[[str], str] = redact,
    ) -> None:
        self._store, self._agent, self._clock = store, agent, clock
        self.limits, self._breaker = limits, breaker
        self._watch, self._settled, self._publish = watch, settle, publish
        self._retry = retry
        self._hide, self._redact = hide, redact

    async def work(self, running: Running) -> None:
        """Run one claim to its end; says nothing when another worker has taken it over."""
        claim = running.claim
        try:
            if self._clock.boot() > claim.lease.until:
                raise LeaseLost
            if running.reason:
                raise Drained
            if claim.crashes >= CRASHES:
                await self._bury(claim, notices.crashed(claim.crashes))
            else:
                await self._settle(claim, await self._attempt(running))
        except Drained:
            await self._ended_early(running)
        except LeaseLost:
            log.warning(
                "Event %d belongs to another worker now; its run ended here.",
                claim.seq,
                extra={"action": "lease_lost", "event": claim.seq},
            )
        finally:
            self._breaker.left(claim.seq)

    async def rescue(self, claim: Claim, error: Exception) -> None:
        """Record that the outcome itself could not be recorded, so that the event does not hang."""
        with suppress(LeaseLost):
            await self._fail(claim, Failed(error=f"{type(error).__name__}: {error}"))

    async def _attempt(self, running: Running) -> Outcome:
        claim = running.claim
        self._say(claim, "running")
        timer = asyncio.timeout(self.limits.seconds)
        try:
            async with timer:
                emit = self._watch(claim)
                return await running.through(self._agent.run(claim, emit=emit, stop=running.stop))
        except Drained:
            if running.reason:
                raise
            return Failed(error="the run ended early, though nobody had asked it to")
        except LeaseLost:
            raise
        except StoreBroken as error:  # everybody's trouble, not this event's fault
            return Failed(error=str(error), outage=True)
        except Exception as error:
            if isinstance(error, TimeoutError) and timer.expired():
                return Failed(error=notices.too_long(self.limits.seconds), final=True)
            log.exception(
                "The run of event %d failed.",
                claim.seq,
                extra={"action": "run_failed", "event": claim.seq},
            )
            return Failed(error=f"{type(error).__name__}: {error}")
        finally:
            await self._settled(claim)

    async def _settle(self, claim: Claim, outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            await self._fail(claim, outcome)
            return
        self._breaker.passed(claim.seq)
        clean: Done | Parked = everywhere(outcome, self._hide)
        if isinstance(clean, Parked):
            await self._write(lambda: self._store.park(claim, clean))
            self._say(claim, "waiting")
        else:
            await self._finish(claim, notices.answered(claim, clean, self.limits.alerts))

    async def _finish(self, claim: Claim, done: Done) -> None:
        await self._write(lambda: self._store.finish(claim, done))
        for reply in done.replies:
            self._publish(Update(kind="reply", event_seq=claim.seq, text=reply.text))
        self._say(claim, "done" if done.replies or not done.silent else "silent")

    async def _fail(self, claim: Claim, failed: Failed) -> None:
        failed = everywhere(failed, self._redact)
        if failed.outage:
            asked = None if failed.retry_after is None else min(failed.retry_after, LONGEST)
            pause = self._breaker.failed(claim.seq, failed.error, retry_after=asked)
            await self._again(claim, failed, pause)
            return
        self._breaker.passed(claim.seq)
        if failed.final or claim.attempts + 1 >= self.limits.attempts:
            await self._bury(claim, failed.error, failed)
        else:
            asked = None if failed.retry_after is None else min(failed.retry_after, LONGEST)
            pause = self._retry.after(claim.attempts + 1, asked=asked)
            await self._again(claim, failed, pause)

    async def _again(self, claim: Claim, failed: Failed, pause: float) -> None:
        at = self._clock.now() + int(pause * 1000)
        await self._write(lambda: self._store.retry(claim, failed, at=at))
        log.warning(
            "Event %d failed and is tried again in %.0f s: %s",
            claim.seq,
            pause,
            failed.error,
            extra={"action": "run_retry", "event": claim.seq, "outage": failed.outage},
        )
        self._say(claim, "queued", detail=failed.error)

    async def _bury(self, claim: Claim, error: str, failed: Failed | None = None) -> None:
        """Close a dead event: first its graph thread, then its row, with a notice for people."""
        await self._repair(claim, error)
        said = notices.notice(claim, notices.dead(claim.seq, error), self.limits.alerts)
        steps = failed.steps if failed else ()
        await self._write(lambda: self._store.bury(claim, error, said, steps=steps))
        log.error(
            "Event %d is dead: %s",
            claim.seq,
            error,
            extra={"action": "event_dead", "event": claim.seq, "thread_key": claim.thread_key},
        )
        if said:
            self._publish(Update(kind="reply", event_seq=claim.seq, text=said.text))
        self._say(claim, "failed", detail=error)

    async def _repair(self, claim: Claim, text: str) -> None:
        try:
            await self._agent.repair(claim, text)
        except (LeaseLost, StoreBroken):
            raise
        except Exception:
            log.exception(
                "The thread %s could not be repaired after event %d.",
                claim.thread_key,
                claim.seq,
                extra={"action": "repair_failed", "event": claim.seq},
            )

    async def _ended_early(self, running: Running) -> None:
        claim = running.claim
        if running.reason == "stop":
            await self._repair(claim, "Stopped by the user.")
            said = notices.notice(claim, notices.stopped(), ())
            done = Done(replies=(said,) if said else (), silent=STOPPED)
            await self._finish(claim, done)
        elif running.reason != "lost":
            await self._write(lambda: self._store.release(claim))
            self._say(claim, "queued")

    async def _write(self, write: Callable[[], Awaitable[None]]) -> None:
        """Record an outcome; while the disk is full or read-only it is kept and tried again."""
        failures = 0
        while True:
            try:
                await write()
                return
            except StoreBroken as error:
                failures += 1
                pause = STORE.delay(failures)
                log.error(
                    "An outcome cannot be written and is tried again in %.0f s: %s",
                    pause,
                    error,
                    extra={"action": "store_unwritable"},
                )
                await asyncio.sleep(pause)

    def _say(self, claim: Claim, state: str, *, detail: str = "") -> None:
        self._publish(Update(kind="state", event_seq=claim.seq, text=state, detail=detail))
