"""`wakeful console`."""

from __future__ import annotations

from pathlib import Path

import click

from wakeful.cli.exits import UNAVAILABLE, Fail
from wakeful.cli.folder import choose, folder_argument, settings_of


@click.command()
@folder_argument
def console(home: Path, directory: str | None) -> None:
    """Print the address of the page and a code that lets one browser in, within a minute."""
    from wakeful.cli.daemon import find_daemon

    folder = choose(directory, home)
    daemon = find_daemon(folder, settings_of(folder))
    if daemon is None:
        raise Fail(f"nobody is awake here; start it with `wakeful run {folder}`.", UNAVAILABLE)
    click.echo(f"{daemon.url}/login")
    click.echo(f"The code, good once and for a minute: {daemon.new_code()}")
