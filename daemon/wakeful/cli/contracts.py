"""`wakeful check --tools`."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wakeful.cli.exits import FOLDER
from wakeful.cli.faults import show_faults
from wakeful.cli.folder import settings_of
from wakeful.cli.screen import harmless
from wakeful.cli.table import show_json

if TYPE_CHECKING:
    from wakeful.agent.contracts import Contract


def show_contracts(home: Path, json_: bool) -> None:
    """Print what goes to the provider, word for word, and what is wrong with it."""
    from wakeful.agent.contracts import contracts
    from wakeful.plugs import Folder
    from wakeful.service.time import SystemClock

    snapshot = Folder(home, settings_of(home)).scan()
    tools, found = asyncio.run(contracts(snapshot, SystemClock()))
    found += [fault for fault in snapshot.faults if fault.file.startswith("tools/")]
    once = {(fault.file, fault.key, fault.message): fault for fault in found}
    faults = sorted(once.values(), key=lambda each: (each.warning, each.file, each.key))
    if json_:
        show_json({"tools": list(map(asdict, tools)), "faults": list(map(asdict, faults))})
    else:
        click.echo("\n\n".join(map(_words, tools)) + "\n")
        show_faults(home, faults)
    sys.exit(FOLDER if any(not fault.warning for fault in faults) else 0)


def _words(tool: Contract) -> str:
    schema = json.dumps(tool.parameters, indent=2, ensure_ascii=False)
    return harmless(f"## {tool.name} ({tool.file})\n{tool.description}\n{schema}")
