"""`wakeful effects`."""

from __future__ import annotations

from pathlib import Path

import click

from wakeful.cli.ask import ask
from wakeful.cli.folder import as_json, in_folder, zone_of
from wakeful.cli.table import show_json, show_table, when
from wakeful.events import EFFECT_STATES


@click.command()
@in_folder
@as_json
@click.option("--state", type=click.Choice(EFFECT_STATES), help="Only these.")
@click.option("-n", "limit", default=50, show_default=True, help="At most this many.")
def effects(home: Path, json_: bool, state: str | None, limit: int) -> None:
    """List the calls that changed something in the world, the latest first.

    `unknown` are those that a crash cut off: they may have happened and were not repeated.
    """
    rows = ask(home).effects(limit, state)
    if json_:
        return show_json(rows)
    zone = zone_of(home)
    shown = [{**row, "started": when(row["started_at"], zone)} for row in rows]
    show_table(
        shown,
        ("event", "tool", "state", "started", "key"),
        empty="No calls that changed anything yet.",
    )
