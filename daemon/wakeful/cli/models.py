"""`wakeful models`."""

from __future__ import annotations

import click


@click.group()
def models() -> None:
    """Bring a model to this machine."""


@models.command()
@click.argument("name")
def add(name: str) -> None:
    """Fetch a small local model, such as smollm2, and say how to use it."""
    from wakeful.agent.local import add_model

    click.echo(add_model(name, say=lambda line: click.echo(line, err=True)))
