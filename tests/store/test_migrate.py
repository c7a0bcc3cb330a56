"""Numbered migrations: fresh and migrated are the same, and what does not fit is refused."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import Engine

from tests.store.conftest import HandClock, event
from wakeful.errors import StoreBroken
from wakeful.store import open_reader, open_store
from wakeful.store.connect import connect, dialect_of
from wakeful.store.migrate import Migration, migrate, migrations
from wakeful.store.schema import SQLITE_ONLY, metadata

LATER = """
-- A trigger has a semicolon inside.
CREATE TABLE later (a INTEGER);
CREATE TRIGGER t AFTER INSERT ON later BEGIN
  SELECT 1;
END;
"""


def described(engine: Engine) -> dict[str, object]:
    """Tables, columns, keys and indexes, as the database itself sees them."""
    found = inspect(engine)
    return {
        name: (
            [
                (c["name"], str(c["type"]), c["nullable"], c["default"])
                for c in found.get_columns(name)
            ],
            found.get_pk_constraint(name)["constrained_columns"],
            sorted(
                (
                    i["name"] or "",
                    i["unique"],
                    str(i["column_names"]),
                    _options(i),
                )
                for i in found.get_indexes(name)
            ),
            sorted(str(u["column_names"]) for u in found.get_unique_constraints(name)),
        )
        for name in found.get_table_names()
    }


def _options(index: Any) -> str:
    options = index.get("dialect_options", {})
    return str({name: str(value) for name, value in sorted(options.items())})


def test_a_fresh_schema_and_a_migrated_one_are_the_same(
    request: pytest.FixtureRequest, url: str, tmp_path: Path
) -> None:
    dialect = dialect_of(url)
    line = connect(url)
    assert migrate(line, dialect, None) == [one.number for one in migrations(dialect)]
    line.close()
    if dialect == "sqlite":
        fresh = create_engine(f"sqlite:///{tmp_path}/fresh.db")
    else:
        fresh = create_engine(request.getfixturevalue("postgres_cluster").schema())
    tables = [t for n, t in metadata.tables.items() if dialect == "sqlite" or n not in SQLITE_ONLY]
    metadata.create_all(fresh, tables=tables)
    migrated = create_engine(url)
    try:
        assert described(migrated) == described(fresh)
    finally:
        migrated.dispose()
        fresh.dispose()


def test_both_databases_have_the_same_migrations() -> None:
    names = [[(one.number, one.name) for one in migrations(d)] for d in ("sqlite", "postgresql")]
    assert names[0] == names[1]
    assert [number for number, _ in names[0]] == list(range(1, len(names[0]) + 1))


async def test_opening_twice_migrates_once(url: str, clock: HandClock) -> None:
    for _ in range(2):
        async with open_store(url, clock=clock, owner="test"):
            pass
    line = connect(url)
    assert migrate(line, dialect_of(url), None) == []
    line.close()


async def test_a_copy_is_kept_before_a_migration(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(event("1"))
    line = connect(sqlite_url)
    known = [*migrations("sqlite"), Migration(2, "later", LATER)]
    assert migrate(line, "sqlite", tmp_path / "state.db", known=known) == [2]
    line.execute("INSERT INTO later (a) VALUES (1)")
    line.close()
    copy = tmp_path / "state.db.before-0002"
    with sqlite3.connect(copy) as kept:
        assert kept.execute("SELECT count(*) FROM inbox").fetchone() == (1,)
        assert not kept.execute("SELECT 1 FROM sqlite_master WHERE name = 'later'").fetchone()
    kept.close()


def test_a_migration_that_fails_leaves_nothing_behind(sqlite_url: str, tmp_path: Path) -> None:
    line = connect(sqlite_url)
    migrate(line, "sqlite", None)
    known = [*migrations("sqlite"), Migration(2, "bad", "CREATE TABLE half (a);\nNONSENSE;")]
    with pytest.raises(sqlite3.OperationalError):
        migrate(line, "sqlite", tmp_path / "state.db", known=known)
    assert not line.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchone()
    assert migrate(line, "sqlite", None) == []
    line.close()


async def test_a_store_of_a_newer_version_is_refused(url: str, clock: HandClock) -> None:
    line = connect(url)
    newer = [*migrations(dialect_of(url)), Migration(2, "later", "CREATE TABLE later (a INTEGER)")]
    migrate(line, dialect_of(url), None, known=newer)
    line.commit()
    line.close()
    with pytest.raises(StoreBroken, match=r"made by a newer version of Wakeful \(migration 2\)"):
        async with open_store(url, clock=clock, owner="test"):
            pass
    async with open_reader(url) as view:
        with pytest.raises(StoreBroken, match="made by a newer version"):
            await view.threads()


def test_an_edited_migration_is_refused(sqlite_url: str) -> None:
    line = connect(sqlite_url)
    migrate(line, "sqlite", None)
    edited = [replace(one, sql=one.sql + "-- edited") for one in migrations("sqlite")]
    with pytest.raises(StoreBroken, match=r"migration 1 \(spine\) is not the one that made"):
        migrate(line, "sqlite", None, known=edited)
    line.close()


@pytest.mark.parametrize("change", ["DROP TABLE memory", "ALTER TABLE thread ADD COLUMN x INTEGER"])
def test_tables_that_were_changed_by_hand_are_refused(url: str, change: str) -> None:
    line = connect(url)
    migrate(line, dialect_of(url), None)
    line.execute(change)
    line.commit()
    with pytest.raises(StoreBroken, match="the tables of this store are not as Wakeful made them"):
        migrate(line, dialect_of(url), None)
    line.close()


async def test_a_store_that_was_not_brought_up_to_date_is_not_read(sqlite_url: str) -> None:
    line = connect(sqlite_url)
    line.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
    line.close()
    async with open_reader(sqlite_url) as view:
        with pytest.raises(StoreBroken, match="made by an older version"):
            await view.threads()
