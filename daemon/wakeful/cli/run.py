"""`wakeful run`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from wakeful.cli.folder import choose, folder_argument


@click.command()
@folder_argument
@click.option(
    "--set", "given", metavar="KEY=VALUE", multiple=True,
    help="A setting for this run, such as limits.concurrency=2; it wins over agent.toml.",
)  # fmt: skip
def run(home: Path, directory: str | None, given: tuple[str, ...]) -> None:
    """Keep the agent of a folder awake, until you stop it (Ctrl-C, or SIGTERM).

    A run in the middle of something ends its step first; the rest goes on at the next start.
    """
    from wakeful.service import run_service

    sys.exit(run_service(choose(directory, home), overrides(given)))


def overrides(given: Iterable[str]) -> dict[str, Any]:
    """`a.b=1` as the tables of agent.toml; a value that is no TOML is a text."""
    made: dict[str, Any] = {}
    for one in given:
        key, equals, value = one.partition("=")
        *tables, last = key.strip().split(".")
        if not equals or not all((*tables, last)):
            raise click.BadParameter(f"write {one!r} as KEY=VALUE, such as limits.concurrency=2")
        place = made
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise click.BadParameter(f"{table!r} is a value and a table at once in {one!r}")
        place[last] = _value(value.strip())
    return made


def _value(text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
