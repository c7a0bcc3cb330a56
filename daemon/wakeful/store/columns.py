"""The few kinds of columns that the tables are made of, the same on both databases."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ColumnElement, Index, Integer, Text, text
from sqlalchemy.sql.type_api import TypeEngine

BIG: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")  # INTEGER is SQLite's rowid


def key(name: str) -> Column[str]:
    return Column(name, Text, primary_key=True, nullable=False)


def serial(name: str) -> Column[int]:
    return Column(name, BIG, primary_key=True, autoincrement=True)


def words(name: str, default: str | None = None) -> Column[str]:
    return Column(name, Text, nullable=False, server_default=default)


def number(name: str, default: int | None = None) -> Column[int]:
    return Column(
        name, BIG, nullable=False, server_default=None if default is None else text(str(default))
    )


def partial(name: str, *columns: ColumnElement[object], where: str) -> Index:
    """An index over the few rows that matter now, so that it stays as small as the work at hand."""
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))
