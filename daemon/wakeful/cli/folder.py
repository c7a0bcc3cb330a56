"""Which agent folder a command works in, and the options that most commands share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wakeful.cli.exits import FOLDER, Fail
from wakeful.errors import Unknown

if TYPE_CHECKING:
    from wakeful.config import Settings

F = TypeVar("F", bound=Callable[..., Any])


def in_folder(function: F) -> F:
    """Adds `-C DIR`; the command gets the folder that was found as `home`."""
    return click.option(
        "-C", "home", metavar="DIR", callback=_find, help="Work in this agent folder."
    )(function)


def folder_argument(function: F) -> F:
    """Like `in_folder`, with the folder as an argument of its own as well: `run my-agent`."""
    argument = click.argument("directory", metavar="[DIR]", required=False)
    return in_folder(argument(function))


def as_json(function: F) -> F:
    """Adds `--json`, which prints what the table shows, and more, for a program to read."""
    return click.option("--json", "json_", is_flag=True, help="Print JSON instead of a table.")(
        function
    )


def choose(directory: str | None, home: Path) -> Path:
    """The argument wins over -C and over where we stand."""
    return find(Path(directory)) if directory else home


def find(start: Path) -> Path:
    """The nearest folder upward from `start` that has an agent.toml."""
    from wakeful.config import find_folder

    if not start.exists():
        raise Fail(f"there is no folder {start}.", FOLDER)
    try:
        return find_folder(start)
    except Unknown as error:
        raise Fail(f"{error}, -C DIR names another folder.", FOLDER) from error


def settings_of(home: Path) -> Settings:
    """The folder's settings, or the sentence that says what is wrong with them."""
    from wakeful.config import load

    return load(home)


def zone_of(home: Path) -> tzinfo:
    """The agent's time zone, in which times are shown."""
    from zoneinfo import ZoneInfo

    return ZoneInfo(settings_of(home).timezone)


def _find(ctx: click.Context, _: click.Parameter, value: str | None) -> Path:
    given = value or ctx.obj
    if ctx.params.get("directory"):
        return Path()  # the argument decides, see `choose`
    return find(Path(given) if given else Path.cwd())
