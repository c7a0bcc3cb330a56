"""Faults of an agent folder, for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wakeful.cli.table import plural

if TYPE_CHECKING:
    from wakeful.events import Fault


def show_faults(home: Path, found: Sequence[Fault]) -> None:
    """One a line, and how many."""
    for fault in found:
        click.echo(f"{'warning: ' if fault.warning else ''}{fault}")
    warnings = sum(fault.warning for fault in found)
    click.echo(_sum(home, len(found) - warnings, warnings))


def _sum(home: Path, faults: int, warnings: int) -> str:
    aside = f", {plural(warnings, 'warning')}" if warnings else ""
    return f"{home}: {plural(faults, 'fault') if faults else 'no faults'}{aside}."
