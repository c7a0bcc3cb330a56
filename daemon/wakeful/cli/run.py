"""`wakeful run`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wakeful.cli.folder import choose, folder_argument


@click.command()
@folder_argument
def run(home: Path, directory: str | None) -> None:
    """Keep the agent of a folder awake, until you stop it (Ctrl-C, or SIGTERM).

    A run in the middle of something ends its step first; the rest goes on at the next start.
    """
    from wakeful.service import run_service

    sys.exit(run_service(choose(directory, home)))
