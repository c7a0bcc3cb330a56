"""`wakeful runs`."""

from __future__ import annotations

from pathlib import Path

import click

from wakeful.cli.ask import about, ask
from wakeful.cli.folder import as_json, in_folder, zone_of
from wakeful.cli.table import as_cell, show_json, show_table, when
from wakeful.events import EVENT_STATES

COLUMNS = ("event", "thread", "state", "received", "text")
TABLES = {  # what a run has several of: its time, and what is shown of it
    "steps": ("started_at", ("at", "kind", "agent", "name", "ok", "summary")),
    "effects": ("started_at", ("at", "tool", "state")),
    "replies": ("ended_at", ("at", "address", "kind", "state", "attempts", "error", "text")),
}


@click.group(invoke_without_command=True)
@in_folder
@as_json
@click.option("--state", type=click.Choice(EVENT_STATES), help="Only these.")
@click.option("-n", "limit", default=20, show_default=True, help="At most this many.")
@click.pass_context
def runs(ctx: click.Context, home: Path, json_: bool, state: str | None, limit: int) -> None:
    """List what ran, the latest first; `runs show EVENT` shows one."""
    if ctx.invoked_subcommand:
        ctx.obj = str(home)
        return
    rows = ask(home).runs(limit, state)
    if json_:
        return show_json(rows)
    zone = zone_of(home)
    shown = [{**row, "received": when(row["received_at"], zone)} for row in rows]
    show_table(shown, COLUMNS, empty=f"No run is {state}." if state else "Nothing ran yet.")


@runs.command()
@in_folder
@as_json
@click.argument("event", type=click.IntRange(min=1))
def show(home: Path, json_: bool, event: int) -> None:
    """Show one run: what came in, its steps, and how it ended."""
    row = about(event, ask(home).run)
    if json_:
        return show_json(row)
    zone = zone_of(home)
    for key, value in row.items():
        if key not in TABLES and value not in (None, "", [], {}):
            text = when(value, zone) if key.endswith("_at") else as_cell(value, widest=None)
            click.echo(f"{key.replace('_', ' ')}: {text}")
    for key, (time, columns) in TABLES.items():
        shown = [{**one, "at": when(one.get(time), zone)} for one in row.get(key) or ()]
        if shown:
            click.echo(f"\n{key}:")
            show_table(shown, columns, empty="")
