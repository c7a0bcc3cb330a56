"""The alarm clock: one APScheduler job that rings when the next schedule is due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from wakeful.backoff import Backoff
from wakeful.host import Clock

LOOK = 30.0  # seconds; rings at least so often: timers stand still while a machine sleeps
TROUBLE = Backoff(first=1.0, cap=30.0)  # seconds, while the store refuses
JOB = "alarm"

log = logging.getLogger(__name__)


class Alarm:
    """Calls `look` when it is time; `look` says when the next time is, ms UTC."""

    def __init__(self, look: Callable[[], Awaitable[int | None]], *, clock: Clock) -> None:
        self._look, self._clock = look, clock
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._bell = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failures = 0
        self.looked = clock.boot()  # the last time that all went well, or the start

    async def __aenter__(self) -> Alarm:
        self._scheduler.start()
        self._task = asyncio.create_task(self._keep_looking(), name="clock")
        self.set(self._clock.now())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._scheduler.shutdown(wait=False)
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def set(self, due: int | None) -> None:
        """Ring at this time, or when it is time to look again, whichever is first."""
        wait = LOOK if due is None else min(LOOK, max(0.0, (due - self._clock.now()) / 1000))
        self._set(wait)

    def _set(self, seconds: float) -> None:
        self._scheduler.add_job(
            self._ring,
            "date",
            run_date=datetime.now(UTC) + timedelta(seconds=seconds),
            id=JOB,
            replace_existing=True,
            misfire_grace_time=None,  # however late, it rings: what is due is not decided here
        )

    async def _ring(self) -> None:
        # No more than this: APScheduler drops a job that is due while its last run has not ended.
        self._bell.set()

    async def _keep_looking(self) -> None:
        while True:
            # The job goes by the wall clock, so a clock that is set back would put it off.
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._bell.wait()
            self._bell.clear()
            try:
                due = await self._look()
            except Exception as error:
                self._trouble(error)
            else:
                self._failures, self.looked = 0, self._clock.boot()
                self.set(due)

    def _trouble(self, error: Exception) -> None:
        self._failures += 1
        pause = TROUBLE.delay(self._failures)
        message = "the schedules could not be looked at (%s); again in %.0f s"
        log.exception(message, error, pause, extra={"action": "clock_trouble"})
        self._set(pause)
