"""What a command prints: tables for people, JSON for programs, times with their zone named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

import click

GAP = "  "
WIDEST = 60  # characters of one cell; what is longer is cut, --json has it whole


def show_json(value: Any) -> None:
    """Print a value for a program."""
    import json

    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def show_table(
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    empty: str,
    whole: Sequence[str] = (),
) -> None:
    """Print rows under a head; `empty` is said when there are none, `whole` is never cut."""
    widest = {name: None if name in whole else WIDEST for name in columns}
    cells = [[as_cell(row.get(name), widest=widest[name]) for name in columns] for row in rows]
    if not cells:
        click.echo(empty)
        return
    head = [column.upper().replace("_", " ") for column in columns]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for line in (head, *cells):
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo(GAP.join(padded).rstrip())


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 event`, `2 events`."""
    return f"{count} {noun}" if count == 1 else f"{count} {many or noun + 's'}"


def when(moment: str | None, zone: tzinfo = UTC) -> str:
    """A stored time (RFC 3339) for people, in the agent's zone, which is named."""
    if not moment:
        return ""
    local = datetime.fromisoformat(moment).astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S %Z}"


def as_cell(value: Any, *, widest: int | None = WIDEST) -> str:
    """Any value as one line for people."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    text = " ".join(str(value).split())
    return text if widest is None or len(text) <= widest else text[: widest - 1] + "…"
