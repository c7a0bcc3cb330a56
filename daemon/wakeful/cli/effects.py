"""`wakeful effects`."""

from __future__ import annotations

from pathlib import Path

import click

from wakeful.cli.books import Books
from wakeful.cli.folder import as_json, in_folder, settings_of, zone_of
from wakeful.cli.table import show_json, show_table, when

STATES = ("started", "done", "unknown", "failed")


@click.command()
@in_folder
@as_json
@click.option("--state", type=click.Choice(STATES), help="Only these.")
@click.option("-n", "limit", default=50, show_default=True, help="At most this many.")
def effects(home: Path, json_: bool, state: str | None, limit: int) -> None:
    """List the calls that changed something in the world, the latest first.

    `unknown` are those that a crash cut off: they may have happened and were not repeated.
    """
    rows = Books(home, settings_of(home)).effects(state, limit)
    if json_:
        return show_json(rows)
    zone = zone_of(home)
    shown = [{**row, "started": when(row["started_at"], zone)} for row in rows]
    show_table(
        shown,
        ("event", "tool", "state", "started", "key"),
        empty="No calls that changed anything yet.",
    )
