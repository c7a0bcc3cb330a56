"""`wakeful threads`."""

from __future__ import annotations

from pathlib import Path

import click

from wakeful.cli.ask import ask
from wakeful.cli.folder import as_json, in_folder, zone_of
from wakeful.cli.table import show_json, show_table, when


@click.command()
@in_folder
@as_json
@click.option("-n", "limit", default=50, show_default=True, help="At most this many.")
def threads(home: Path, json_: bool, limit: int) -> None:
    """List the conversations, the latest first."""
    rows = ask(home).threads(limit)
    if json_:
        return show_json(rows)
    zone = zone_of(home)
    shown = [{**row, "thread": row["key"], "last": when(row["at"], zone)} for row in rows]
    show_table(
        shown,
        ("thread", "state", "last", "text"),
        empty="No conversations yet; try `wakeful chat`.",
    )
