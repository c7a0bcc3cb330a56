"""`wakeful status`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from wakeful.cli.ask import ask
from wakeful.cli.exits import UNAVAILABLE
from wakeful.cli.folder import as_json, in_folder
from wakeful.cli.table import show_json

DOWN = "not running"
START = f"{DOWN}; `wakeful run` starts it"


@click.command()
@in_folder
@as_json
def status(home: Path, json_: bool) -> None:
    """Say how the daemon is and what waits. Its exit code is 5 when the daemon is not running."""
    answers = ask(home)
    word = "running" if answers.running else DOWN
    facts = {"daemon": word, "folder": str(home), **answers.status()}
    if json_:
        show_json(facts)
    else:
        shown = facts if answers.running else {**facts, "daemon": START}
        click.echo("\n".join(lines(shown)))
    if not answers.running:
        sys.exit(UNAVAILABLE)


def lines(facts: Mapping[str, Any]) -> list[str]:
    """The facts for people, one a line."""
    width = max(map(len, facts))
    return [f"{key.replace('_', ' '):<{width}}  {_words(facts[key])}" for key in facts]


def _words(value: Any) -> str:
    if isinstance(value, Mapping) and "state" in value:  # a part of the daemon
        return f"{value['state']} ({value['error']})" if value.get("error") else str(value["state"])
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None or value == "" else str(value)
