"""Connections to SQLite and PostgreSQL, and what their drivers' errors mean to a person."""

from __future__ import annotations

import importlib
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, cast

from sqlalchemy.engine import make_url

from wakeful.errors import StoreBroken, StoreFull, StoreReadOnly, WakefulError
from wakeful.store.query import Dialect, Driver

BUSY_TIMEOUT = 30_000  # ms
CACHE = 8_000  # KiB per connection
WAL_PAGES = 4_000  # pages in the write-ahead log before SQLite folds it back
INCREMENTAL = 2  # auto_vacuum: free pages are given back when we say so
Sync = Literal["FULL", "NORMAL"]


def dialect_of(url: str) -> Dialect:
    name = make_url(url).get_backend_name()
    if name not in ("sqlite", "postgresql"):
        raise StoreBroken(
            f"a store of kind {name!r} is not known; use sqlite:////path/state.db or "
            "postgresql+psycopg://user@host/database in [store] url"
        )
    return cast(Dialect, name)


def path_of(url: str) -> Path:
    """Where the SQLite file of this address lies."""
    return Path(make_url(url).database or "state.db").absolute()


def connect(url: str, *, sync: Sync = "FULL", read_only: bool = False) -> Driver:
    if dialect_of(url) == "sqlite":
        return _sqlite(path_of(url), sync=sync, read_only=read_only)
    return _postgresql(url, sync=sync, read_only=read_only)


def _sqlite(path: Path, *, sync: Sync, read_only: bool) -> Driver:
    mode = "rwc" if not read_only else "rw" if _writable(path) else "ro"
    if not read_only and path.parent.is_dir():
        private_file(path)  # SQLite gives its log the mode of the file
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_TIMEOUT / 1000,
        isolation_level=None,  # transactions are begun by hand: BEGIN IMMEDIATE
        check_same_thread=False,
        cached_statements=512,
    )
    connection.row_factory = sqlite3.Row
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")
        if read_only:
            connection.execute("PRAGMA query_only = 1")
        else:
            _let_it_shrink(connection)
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {sync}")
        connection.execute(f"PRAGMA cache_size = -{CACHE}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        connection.execute("PRAGMA temp_store = MEMORY")
    except sqlite3.Error:
        connection.close()
        raise
    return cast(Driver, connection)


def private_file(path: Path) -> None:
    """Make the file, readable by nobody else; one that is there keeps what its owner chose."""
    with suppress(OSError):  # it is there, or SQLite says what is wrong
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _writable(path: Path) -> bool:
    """A reader that could write leaves no log behind when it closes; it may not change anything."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _let_it_shrink(connection: sqlite3.Connection) -> None:
    """Counts before the first table only; asked first, since saying it again writes to the file."""
    if connection.execute("PRAGMA auto_vacuum").fetchone()[0] != INCREMENTAL:
        connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")


class _Row(tuple[Any, ...]):
    """A PostgreSQL row that answers to numbers and to column names, as sqlite3.Row does."""

    names: dict[str, int]

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(self.names[at] if isinstance(at, str) else at)


def _rows(cursor: Any) -> Callable[[Sequence[Any]], _Row]:
    names = {column.name: at for at, column in enumerate(cursor.description or ())}

    def row(values: Sequence[Any]) -> _Row:
        made = _Row(values)
        made.names = names  # pyright: ignore[reportAttributeAccessIssue]
        return made

    return row


def _postgresql(url: str, *, sync: Sync, read_only: bool) -> Driver:
    psycopg = importlib.import_module("psycopg")
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = psycopg.connect(plain, row_factory=_rows, connect_timeout=10)
    connection.execute(f"SET synchronous_commit = {'on' if sync == 'FULL' else 'off'}")
    connection.execute("SET lock_timeout = '30s'")
    connection.commit()
    connection.read_only = read_only
    return cast(Driver, connection)


def explain(error: Exception, url: str) -> WakefulError | None:
    """The error as a sentence that says what to do, None when it is not the store's fault."""
    if isinstance(error, sqlite3.Error):
        return _explain_sqlite(error, path_of(url))
    if type(error).__module__.startswith("psycopg"):
        return _explain_postgresql(error)
    return None


def _explain_sqlite(error: sqlite3.Error, path: Path) -> WakefulError | None:
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary == sqlite3.SQLITE_FULL:
        return StoreFull(
            f"the disk with {path.name} is full; free some space in {path.parent}. "
            "Nothing that was accepted is lost"
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreReadOnly(
            f"{path.name} cannot be written; make {path.parent} writable for the daemon's user"
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreBroken(
            f"{path.name} is damaged ({error}); stop the daemon, keep a copy of the file and of "
            "its -wal file, then restore the last backup (docs/operations.md)"
        )
    if primary in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return StoreBroken(
            f"{path.name} cannot be read or written ({error}); look at the disk below {path.parent}"
        )
    if primary == sqlite3.SQLITE_BUSY:
        return StoreBroken(
            f"another program has held {path.name} for {BUSY_TIMEOUT // 1000} seconds; close it"
        )
    return None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def _explain_postgresql(error: Exception) -> WakefulError | None:
    state = getattr(error, "sqlstate", None) or ""
    if state == "53100":
        return StoreFull("PostgreSQL has no room left; free some space on its disk")
    if state == "25006":
        return StoreReadOnly("PostgreSQL takes no writes here; connect to the primary server")
    if type(error).__name__ == "OperationalError":
        return StoreBroken(
            f"PostgreSQL does not answer ({_line(error)}); start it, the daemon goes on by itself"
        )
    if state.startswith("XX"):
        return StoreBroken(f"PostgreSQL reports damage ({_line(error)}); see its log")
    return None
