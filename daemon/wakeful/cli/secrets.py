"""`wakeful secrets`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wakeful.cli.folder import in_folder, settings_of

if TYPE_CHECKING:
    from wakeful.secrets import Secrets


@click.group()
def secrets() -> None:
    """Keep what settings name as `secret:NAME`; no command ever shows one."""


@secrets.command("set")
@click.argument("name")
@in_folder
def set_(home: Path, name: str) -> None:
    """Store a secret; it is asked for, or read from standard input. A stored one is replaced."""
    value = _read()
    if not value:
        raise click.UsageError("the secret is empty")
    asyncio.run(_open(home).set(name, value))
    click.echo(f'Stored. Settings name it "secret:{name}".')


@secrets.command()
@click.argument("name")
@in_folder
def delete(home: Path, name: str) -> None:
    """Delete a secret."""
    there = asyncio.run(_open(home).delete(name))
    click.echo("Deleted." if there else f'There is no secret "{name}" to delete.')


@secrets.command()
@click.argument("name")
@in_folder
def test(home: Path, name: str) -> None:
    """Say whether a secret is there, without showing it."""
    why = _open(home).missing(f"secret:{name}")
    click.echo(f"No: {why}." if why else "Yes.")
    sys.exit(1 if why else 0)


def _open(home: Path) -> Secrets:
    from wakeful.secrets import open_secrets

    return open_secrets(home, settings_of(home).secrets)


def _read() -> str:
    if sys.stdin.isatty():
        asked: str = click.prompt("Secret", hide_input=True, confirmation_prompt=True)
        return asked
    return sys.stdin.read().rstrip("\r\n")
