"""`wakeful check`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wakeful.cli.exits import FOLDER
from wakeful.cli.folder import as_json, choose, folder_argument
from wakeful.cli.table import plural, show_json


@click.command()
@folder_argument
@as_json
def check(home: Path, directory: str | None, json_: bool) -> None:
    """Say everything that is wrong with an agent folder, all at once.

    Names file, line and key, and the nearest right word. Warnings alone do not make it fail.
    """
    from dataclasses import asdict

    from wakeful.plugs import check as find_faults
    from wakeful.rehearsal.reading import script_faults

    home = choose(directory, home)
    found = sorted(
        [*find_faults(home), *script_faults(home)],
        key=lambda fault: (fault.warning, fault.file, fault.line or 0),
    )
    serious = [fault for fault in found if not fault.warning]
    if json_:
        show_json([asdict(fault) for fault in found])
    else:
        for fault in found:
            click.echo(f"{'warning: ' if fault.warning else ''}{fault}")
        click.echo(_sum(home, len(serious), len(found) - len(serious)))
    sys.exit(FOLDER if serious else 0)


def _sum(home: Path, faults: int, warnings: int) -> str:
    aside = f", {plural(warnings, 'warning')}" if warnings else ""
    return f"{home}: {plural(faults, 'fault') if faults else 'no faults'}{aside}."
