"""`wakeful check`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wakeful.cli.exits import FOLDER
from wakeful.cli.faults import show_faults
from wakeful.cli.folder import as_json, choose, folder_argument
from wakeful.cli.table import show_json

if TYPE_CHECKING:
    from wakeful.events import Fault


@click.command()
@folder_argument
@as_json
@click.option("--tools", is_flag=True, help="Print each tool as the model sees it, and look at it.")
def check(home: Path, directory: str | None, json_: bool, tools: bool) -> None:
    """Say everything that is wrong with an agent folder, all at once.

    Names file, line and key, and the nearest right word. Warnings alone do not make it fail.
    """
    from dataclasses import asdict

    from wakeful.plugs import check as find_faults
    from wakeful.rehearsal.reading import script_faults

    home = choose(directory, home)
    if tools:
        from wakeful.cli.contracts import show_contracts

        return show_contracts(home, json_)
    found = sorted(
        [*find_faults(home), *script_faults(home), *skill_faults(home)],
        key=lambda fault: (fault.warning, fault.file, fault.line or 0),
    )
    if json_:
        show_json([asdict(fault) for fault in found])
    else:
        show_faults(home, found)
    sys.exit(FOLDER if any(not fault.warning for fault in found) else 0)


def skill_faults(home: Path) -> list[Fault]:
    """A warning for each skill that is not used before a person has seen it."""
    from wakeful.cli.ask import ask
    from wakeful.errors import FolderFaulty
    from wakeful.events import Fault

    try:
        rows = ask(home).skills()
    except FolderFaulty:
        return []  # it has been said what is wrong
    return [
        Fault(file=f"skills/{row['name']}", message=_why(row), warning=True)
        for row in rows
        if row["state"] == "quarantined"
    ]


def _why(row: Mapping[str, Any]) -> str:
    more = f" and {len(row['why']) - 1} more" if len(row["why"]) > 1 else ""
    return (
        f"it is in quarantine and the agent does not see it ({row['why'][0]}{more});"
        f" `wakeful skills accept {row['name']}` shows what is new and asks"
    )
