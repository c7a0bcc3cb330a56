"""What statements are made of: parameters by type, and constants that stand in the text."""

from __future__ import annotations

from sqlalchemy import BigInteger, BindParameter, Float, Text, bindparam
from sqlalchemy.sql.elements import ColumnElement, literal_column


def num(name: str) -> BindParameter[int]:
    return bindparam(name, type_=BigInteger())


def txt(name: str) -> BindParameter[str]:
    return bindparam(name, type_=Text())


def real(name: str) -> BindParameter[float]:
    return bindparam(name, type_=Float())


def const(word: str) -> ColumnElement[str]:
    """A word that stands in the statement itself, so that a partial index can be used."""
    return literal_column(f"'{word}'", Text)
