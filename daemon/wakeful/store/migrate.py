"""Numbered migrations: applied once, in order, each in one transaction; verified, or refused.

A file is never edited after a release. What was applied is recorded with its digest, and the
tables that result with theirs, so that a changed file or a table changed by hand is found before
anything is written.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from wakeful.errors import StoreBroken
from wakeful.store.connect import private_file
from wakeful.store.query import Dialect, Driver

log = logging.getLogger(__name__)
ADVISORY_LOCK = 7_274_117  # one daemon at a time migrates a PostgreSQL database


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations(dialect: Dialect) -> list[Migration]:
    """Every migration that this version knows, in order."""
    found = []
    for entry in resources.files("wakeful.store").joinpath("migrations").iterdir():
        match = re.fullmatch(rf"(\d{{4}})_(\w+)\.{dialect}\.sql", entry.name)
        if match:
            found.append(Migration(int(match[1]), match[2], entry.read_text("utf-8")))
    return sorted(found, key=lambda one: one.number)


def migrate(
    line: Driver, dialect: Dialect, path: Path | None, *, known: list[Migration] | None = None
) -> list[int]:
    """Bring a database up to this version; returns the numbers that were applied now."""
    known = migrations(dialect) if known is None else known
    applied = _applied(line, dialect)
    _verify(applied, known)
    pending = [one for one in known if one.number not in applied]
    if applied:
        _verify_tables(line, dialect)
        if pending and path is not None:
            keep_copy(line, path, max(applied))
    for one in pending:
        _apply(line, dialect, one)
    return [one.number for one in pending]


def check_version(line: Driver, dialect: Dialect) -> None:
    """For those that only read: refuse a store that this version does not understand."""
    known = migrations(dialect)
    applied = _applied(line, dialect)
    _verify(applied, known)
    if len(applied) < len(known):
        raise StoreBroken(
            "this store was made by an older version of Wakeful; start the daemon once, "
            "it brings it up to date"
        )


def keep_copy(line: Driver, path: Path, number: int) -> Path:
    """Copy the database beside itself before it is changed; the copy is never deleted by us."""
    copy = path.with_name(f"{path.name}.before-{number + 1:04}")
    if not copy.exists():
        half = copy.with_name(copy.name + ".part")
        half.unlink(missing_ok=True)
        private_file(half)
        line.execute("VACUUM INTO ?", (str(half),))
        half.rename(copy)
        log.info("kept a copy of the store: %s", copy, extra={"action": "store_copy"})
    return copy


def _applied(line: Driver, dialect: Dialect) -> dict[int, str]:
    """Number and digest of each migration that this database has seen."""
    if dialect == "sqlite":
        there = line.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    else:
        there = line.execute("SELECT 1 WHERE to_regclass('meta') IS NOT NULL").fetchone()
    if not there:
        return {}
    rows = line.execute("SELECT key, value FROM meta WHERE key LIKE 'migration/%'").fetchall()
    return {int(row[0].rpartition("/")[2]): row[1] for row in rows}


def _verify(applied: dict[int, str], known: list[Migration]) -> None:
    by_number = {one.number: one for one in known}
    for number, digest in sorted(applied.items()):
        one = by_number.get(number)
        if one is None:
            raise StoreBroken(
                f"this store was made by a newer version of Wakeful (migration {number}); install "
                "that version, or restore the copy that was kept before the update"
            )
        if one.digest != digest:
            raise StoreBroken(
                f"migration {number} ({one.name}) is not the one that made this store; install the "
                "version of Wakeful that made it, or restore a backup"
            )


def _verify_tables(line: Driver, dialect: Dialect) -> None:
    row = line.execute("SELECT value FROM meta WHERE key = 'tables'").fetchone()
    if row is None or row[0] != table_digest(line, dialect):
        raise StoreBroken(
            "the tables of this store are not as Wakeful made them; undo what was changed in them "
            "by hand, or restore a backup"
        )


def table_digest(line: Driver, dialect: Dialect) -> str:
    """A digest of every table and index that is ours."""
    return hashlib.sha256("\n".join(_tables(line, dialect)).encode()).hexdigest()


def _tables(line: Driver, dialect: Dialect) -> Iterator[str]:
    if dialect == "sqlite":
        rows = line.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
        ).fetchall()
        yield from (f"{row[0]} {' '.join(row[1].split())}" for row in rows if _ours(row[0]))
        return
    rows = line.execute(
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
    ).fetchall()
    yield from (" ".join(map(str, row)) for row in rows if _ours(row[0]))
    indexes = line.execute(
        "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema() "
        "ORDER BY tablename, indexname"
    ).fetchall()
    yield from (row[1] for row in indexes if _ours(row[0]))


def _ours(name: str) -> bool:
    return not name.startswith(("sqlite_", "checkpoint_"))


def _apply(line: Driver, dialect: Dialect, one: Migration) -> None:
    _begin(line, dialect)
    try:
        if one.number in _applied(line, dialect):  # another daemon was faster
            line.rollback()
            return
        for statement in statements(one.sql):
            line.execute(statement)
        _record(line, dialect, f"migration/{one.number}", one.digest)
        _record(line, dialect, "tables", table_digest(line, dialect))
        line.commit()
    except BaseException:
        line.rollback()
        raise
    log.info("migrated the store: %s %s", one.number, one.name, extra={"action": "store_migrated"})


def _begin(line: Driver, dialect: Dialect) -> None:
    if dialect == "sqlite":
        line.execute("BEGIN IMMEDIATE")
    else:
        line.execute(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")


def _record(line: Driver, dialect: Dialect, key: str, value: str) -> None:
    mark = "?" if dialect == "sqlite" else "%s"
    line.execute(
        f"INSERT INTO meta (key, value) VALUES ({mark}, {mark}) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def statements(sql: str) -> Iterator[str]:
    """The statements of a migration file, one by one."""
    statement = ""
    for row in sql.splitlines():
        if row.lstrip().startswith("--"):
            continue
        statement += row + "\n"
        if sqlite3.complete_statement(statement):
            yield statement.strip().rstrip(";")
            statement = ""
    if statement.strip():
        yield statement.strip()
