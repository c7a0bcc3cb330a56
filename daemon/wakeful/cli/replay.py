"""`wakeful replay`."""

from __future__ import annotations

from pathlib import Path

import click

from wakeful.cli.ask import about, ask
from wakeful.cli.folder import as_json, in_folder
from wakeful.cli.table import show_json


@click.command()
@in_folder
@as_json
@click.argument("event", type=click.IntRange(min=1))
def replay(home: Path, json_: bool, event: int) -> None:
    """Run an event that has ended once more, as a new event of its thread."""
    answers = ask(home)
    new = about(event, answers.replay)
    if json_:
        return show_json({"event": new, "of": event})
    later = "" if answers.running else " It runs when the daemon is started."
    click.echo(f"Event {event} is accepted again as event {new}.{later}")
    click.echo(f"See it: wakeful runs show {new}")
