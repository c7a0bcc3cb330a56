"""What every group of the store's methods stands on."""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from wakeful.events import Reply
from wakeful.host import Clock
from wakeful.store.backwards import ClockWatch
from wakeful.store.database import Database
from wakeful.store.query import Session

T = TypeVar("T")


class Part:
    """The database, the clock and who we are; `work` and `mail` wake the worker and the courier."""

    def __init__(self, db: Database, clock: Clock, *, owner: str, lease: float) -> None:
        self.db, self.clock, self.clock_watch = db, clock, ClockWatch(clock)
        self.owner = (
            f"{owner}/{uuid.uuid4().hex[:8]}"  # of this opening: what it holds is not doubtful
        )
        self.lease = int(lease * 1000)  # ms
        self.alone = db.dialect == "sqlite"  # no other daemon can touch this database
        self.work = (
            asyncio.Event()
        )  # set when something may be there to claim; the worker clears it
        self.mail = (
            asyncio.Event()
        )  # set when something may be there to send; the courier clears it
        self._no_work = self._no_mail = False  # known to be so until `_work_due`, `_mail_due`
        self._work_due: int | None = None
        self._mail_due: int | None = None
        self._handed: deque[Reply] = deque()  # replies that are on their way already, see outbox.py

    def wake_work(self, *_: object) -> None:
        self._no_work = False
        self.work.set()

    def wake_mail(self, *_: object) -> None:
        self._no_mail = False
        self.mail.set()

    def nothing_before(self, quiet: bool, due: int | None) -> bool:
        return quiet and (due is None or due > self.clock.now())

    async def probe(self) -> None:
        """Go round once, through the queue, the thread and an empty transaction."""
        await self.db.run(lambda s: None)

    async def run(
        self, operation: Callable[[Session], T], *, durable: bool = True, lane: str = "~"
    ) -> T:
        """Run any operation; `durable=False` is synced by the next durable one."""
        return await self.db.run(operation, durable=durable, lane=lane)
