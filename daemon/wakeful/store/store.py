"""The store: one database, and every change to it as one method with a verb of the domain."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from wakeful.errors import StoreBroken, StoreReadOnly
from wakeful.events import Event
from wakeful.host import Clock
from wakeful.store.claims import Claiming
from wakeful.store.connect import connect, dialect_of, explain, path_of
from wakeful.store.cursors import Cursors
from wakeful.store.database import Database
from wakeful.store.effects import Effects
from wakeful.store.health import check_integrity
from wakeful.store.idle import Idle
from wakeful.store.inbox import Inbox
from wakeful.store.lock import hold_lock
from wakeful.store.memory import Memory
from wakeful.store.migrate import migrate
from wakeful.store.news import News
from wakeful.store.outcomes import Outcomes
from wakeful.store.pins import Pins
from wakeful.store.places import refuse_foreign
from wakeful.store.reading import Reading
from wakeful.store.retention import Retaining
from wakeful.store.schedules import Schedules
from wakeful.store.stopping import Stopping
from wakeful.store.trust import Trust
from wakeful.store.view import Views
from wakeful.store.waits import Waits

LEASE = 30.0  # seconds

log = logging.getLogger(__name__)


class Store(
    Inbox,
    Claiming,
    Outcomes,
    Waits,
    Stopping,
    Idle,
    News,
    Effects,
    Trust,
    Schedules,
    Cursors,
    Memory,
    Pins,
    Retaining,
):
    """Everything that the daemon keeps. Each method returns after COMMIT; `view` only looks."""

    def __init__(
        self, db: Database, view: Views, clock: Clock, *, owner: str, lease: float
    ) -> None:
        super().__init__(db, clock, owner=owner, lease=lease)
        self.view = view

    async def event(self, seq: int) -> dict[str, Any] | None:
        """The state of an event, and its reply when it has one."""
        return await self.view.event(seq)

    async def input_of(self, seq: int) -> Event | None:
        """The event as it was accepted."""
        return await self.view.input_of(seq)


@contextlib.asynccontextmanager
async def open_store(
    url: str, *, clock: Clock, owner: str, lease: float = LEASE
) -> AsyncIterator[Store]:
    """Open the store for a daemon: lock, check and migrate it. It refuses with a sentence."""
    with _locked(url):
        await asyncio.to_thread(prepare, url)
        async with Database(url, clock) as db, Reading(url) as reading:
            store = Store(db, Views(reading), clock, owner=owner, lease=lease)
            try:
                yield store
            finally:
                await _leave_tidy(store)


async def _leave_tidy(store: Store) -> None:
    try:
        await store.unsend_handed()
    except StoreBroken as error:  # those replies are looked up at the next start
        log.warning("the outbox was left as it is: %s", error, extra={"action": "store_close"})


@contextlib.asynccontextmanager
async def open_reader(url: str) -> AsyncIterator[Views]:
    """Look into a store whose daemon may be up or down; takes no lock and changes nothing."""
    async with Reading(url, verify=True) as reading:
        yield Views(reading)


@contextlib.contextmanager
def _locked(url: str) -> Iterator[None]:
    if dialect_of(url) != "sqlite":
        yield
        return
    path = path_of(url)
    _make_folder(path.parent)
    refuse_foreign(path.parent)
    with hold_lock(path):
        yield


def prepare(url: str) -> None:
    """Check a database and bring its tables up to this version."""
    dialect = dialect_of(url)
    path = path_of(url) if dialect == "sqlite" else None
    try:
        line = connect(url)
        try:
            if path is not None:
                check_integrity(line, path)
            migrate(line, dialect, path)
        finally:
            line.close()
    except Exception as error:
        raise explain(error, url) or error from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreReadOnly(
            f"the folder {folder} cannot be made ({error.strerror}); make the one above it writable"
        ) from error
