"""`wakeful runs`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wakeful.cli.ask import ask
from wakeful.cli.folder import as_json, in_folder, zone_of
from wakeful.cli.table import show_json, show_table, when
from wakeful.events import EVENT_STATES

COLUMNS = ("event", "thread", "state", "received", "text")
STEPS = ("at", "kind", "agent", "name", "ok", "summary")


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
    show_table(shown, COLUMNS, empty="Nothing ran yet.")


@runs.command()
@in_folder
@as_json
@click.argument("event", type=click.IntRange(min=1))
def show(home: Path, json_: bool, event: int) -> None:
    """Show one run: what came in, its steps, and how it ended."""
    row = ask(home).run(event)
    if json_:
        return show_json(row)
    zone = zone_of(home)
    steps: list[dict[str, Any]] = row.pop("steps", [])
    for key, value in row.items():
        if value not in (None, "", [], {}):
            text = when(value, zone) if key.endswith("_at") else value
            click.echo(f"{key.replace('_', ' ')}: {text}")
    if steps:
        click.echo()
        shown = [{**step, "at": when(step.get("started_at"), zone)} for step in steps]
        show_table(shown, STEPS, empty="")
