"""The store: one database, and every change to it as one method with a verb of the domain."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from wakeful.host import Clock
from wakeful.store.claims import Claiming
from wakeful.store.connect import connect, dialect_of, explain, path_of
from wakeful.store.cursors import Cursors
from wakeful.store.database import Database
from wakeful.store.effects import Effects
from wakeful.store.health import check_integrity
from wakeful.store.inbox import Inbox
from wakeful.store.lock import hold_lock
from wakeful.store.memory import Memory
from wakeful.store.migrate import migrate
from wakeful.store.outcomes import Outcomes
from wakeful.store.places import refuse_foreign
from wakeful.store.retention import Retaining
from wakeful.store.schedules import Schedules
from wakeful.store.view import Views
from wakeful.store.waits import Waits

LEASE = 30.0  # seconds


class Store(
    Inbox,
    Claiming,
    Outcomes,
    Waits,
    Effects,
    Schedules,
    Cursors,
    Memory,
    Views,
    Retaining,
):
    """Everything that the daemon keeps. Each method returns after COMMIT."""


@contextlib.asynccontextmanager
async def open_store(
    url: str, *, clock: Clock, owner: str, lease: float = LEASE
) -> AsyncIterator[Store]:
    """Open the store for a daemon: lock it, check it, migrate it. Refuses with a sentence, never falls back."""
    with _locked(url):
        prepare(url)
        async with Database(url, clock) as db:
            store = Store(db, clock, owner=owner, lease=lease)
            try:
                yield store
            finally:
                await store.unsend_handed()


@contextlib.contextmanager
def _locked(url: str) -> AsyncIterator[None]:
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
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
