"""The alarm clock: one APScheduler job that rings when the next schedule is due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from wakeful.backoff import Backoff
from wakeful.host import Clock

LOOK = 30.0  # seconds; rings at least so often: timers stand still while a machine sleeps
TROUBLE = Backoff(first=1.0, cap=30.0)  # seconds, while the store refuses
JOB = "alarm"

log = logging.getLogger(__name__)


class Alarm:
    """Calls `ring` when it is time; `ring` says when the next time is, ms UTC."""

    def __init__(self, ring: Callable[[], Awaitable[int | None]], *, clock: Clock) -> None:
        self._ring, self._clock = ring, clock
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._failures = 0
        self.rang: float | None = None  # boot-time clock: the last time that all went well

    async def __aenter__(self) -> Alarm:
        self._scheduler.start()
        self.set(self._clock.now())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._scheduler.shutdown(wait=False)
        await asyncio.sleep(0)  # it shuts down in the next turn of the loop

    def set(self, due: int | None) -> None:
        """Ring at this time, or when it is time to look again, whichever is first."""
        wait = LOOK if due is None else min(LOOK, max(0.0, (due - self._clock.now()) / 1000))
        self._set(wait)

    def _set(self, seconds: float) -> None:
        when = datetime.now(UTC) + timedelta(seconds=seconds)
        self._scheduler.add_job(
            self._rings,
            "date",
            run_date=when,
            id=JOB,
            replace_existing=True,
            misfire_grace_time=None,  # however late, it rings: what is due is not decided here
        )

    async def _rings(self) -> None:
        try:
            due = await self._ring()
        except Exception as error:
            self._failures += 1
            pause = TROUBLE.delay(self._failures)
            log.exception(
                "the schedules could not be looked at (%s); again in %.0f s",
                error,
                pause,
                extra={"action": "clock-trouble"},
            )
            self._set(pause)
        else:
            self._failures, self.rang = 0, self._clock.boot()
            self.set(due)
