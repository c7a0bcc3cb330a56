"""One prebuilt statement: SQLAlchemy Core in, text for both dialects out; and its session.

The text goes to the driver as it is. SQLAlchemy's own execution costs several times what SQLite
takes for the statement, and the daemon is measured in CPU per event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from sqlalchemy import ClauseElement
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import psycopg

Dialect = Literal["sqlite", "postgresql"]
Row = Any  # a tuple whose columns have names: sqlite3.Row, or psycopg's named tuple

_SQLITE = sqlite.dialect(paramstyle="named")
_POSTGRESQL = psycopg.dialect()  # type: ignore[no-untyped-call]


class Query:
    """A statement, compiled once for each dialect; constants in it travel along as parameters."""

    __slots__ = ("_core", "_texts")

    def __init__(self, core: ClauseElement) -> None:
        self._core = core
        self._texts: dict[Dialect, tuple[str, dict[str, Any]]] = {}

    def text(self, dialect: Dialect) -> tuple[str, dict[str, Any]]:
        found = self._texts.get(dialect)
        if found is None:
            target = _SQLITE if dialect == "sqlite" else _POSTGRESQL
            compiled = self._core.compile(dialect=target)
            found = self._texts[dialect] = (str(compiled), {**(compiled.params or {})})
        return found


class Driver(Protocol):
    """What both drivers' connections have in common."""

    def execute(self, sql: str, params: Any = ..., /) -> Any: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


class Session:
    """One open transaction, as an operation sees it. Runs on the database thread only."""

    __slots__ = ("dialect", "now", "raw", "writes")

    def __init__(self, raw: Driver, dialect: Dialect, now: int) -> None:
        self.raw, self.now = raw, now
        self.dialect: Dialect = dialect
        self.writes = 0  # rows changed so far; an operation that wrote nothing may fail by itself

    def lease_now(self) -> int:
        """The clock that leases go by: the database's own, where several daemons share it."""
        if self.dialect == "sqlite":
            return self.now
        row = self.raw.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        moment: int = row.fetchone()[0]
        return moment

    def all(self, query: Query, **params: Any) -> Sequence[Row]:
        rows: Sequence[Row] = self._execute(query, params).fetchall()
        return rows

    def one(self, query: Query, **params: Any) -> Row:
        """The first row, None when there is none."""
        return self._execute(query, params).fetchone()

    def scalar(self, query: Query, **params: Any) -> Any:
        row = self._execute(query, params).fetchone()
        return None if row is None else row[0]

    def run(self, query: Query, **params: Any) -> int:
        """Change rows and say how many."""
        count: int = self._execute(query, params).rowcount
        self.writes += max(count, 0)
        return count

    def change(self, query: Query, **params: Any) -> Row:
        """Change one row; returns what RETURNING says, None when there was no such row."""
        row = self._execute(query, params).fetchone()
        self.writes += row is not None
        return row

    def changes(self, query: Query, **params: Any) -> Sequence[Row]:
        rows: Sequence[Row] = self._execute(query, params).fetchall()
        self.writes += len(rows)
        return rows

    def _execute(self, query: Query, params: Mapping[str, Any]) -> Any:
        sql, constants = query.text(self.dialect)
        return self.raw.execute(sql, {**constants, **params} if constants else params)
