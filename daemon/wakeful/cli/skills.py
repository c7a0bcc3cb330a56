"""`wakeful skills`: what the agent knows how to do, and what a person must see first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wakeful.cli.ask import ask
from wakeful.cli.exits import CONFLICT, Fail
from wakeful.cli.folder import as_json, in_folder, zone_of
from wakeful.cli.screen import harmless
from wakeful.cli.table import show_json, show_table, when

COLUMNS = ("name", "state", "accepted", "description")
WAITING = ("quarantined", "draft")


@click.group(invoke_without_command=True)
@in_folder
@as_json
@click.pass_context
def skills(ctx: click.Context, home: Path, json_: bool) -> None:
    """List the skills, those first that wait for you: quarantined ones and the agent's drafts.

    A skill that carries a script, a program or a line that fetches and runs something is not shown
    to the agent before you have accepted that version of it.
    """
    if ctx.invoked_subcommand:
        ctx.obj = str(home)
        return
    rows = ask(home).skills()
    if json_:
        return show_json(rows)
    zone = zone_of(home)
    shown = [{**row, "accepted": when(row["accepted_at"], zone)} for row in rows]
    show_table(shown, COLUMNS, empty="No skills; a folder in skills/ with a SKILL.md makes one.")
    for row in rows:
        if row["state"] in WAITING:
            click.echo(f"`wakeful skills diff {row['name']}` shows what is new in it.")


@skills.command()
@in_folder
@as_json
@click.argument("name")
def diff(home: Path, json_: bool, name: str) -> None:
    """Show what is new in a skill since it was accepted, and why it waits."""
    row = ask(home).skill(name)
    if json_:
        return show_json(row)
    _show(row)


@skills.command()
@in_folder
@as_json
@click.argument("name")
@click.option("--digest", help="Accept the version that `skills diff` showed, without a question.")
def accept(home: Path, json_: bool, name: str, digest: str | None) -> None:
    """Let a skill be used as it is now. Shows what is new in it, and asks.

    A draft of the agent's is copied into skills/ of the folder.
    """
    answers = ask(home)
    row = answers.skill(name)
    if row["state"] not in WAITING:
        raise Fail(f"the skill {name} is in use; there is nothing to accept.", CONFLICT)
    if digest is None:
        _show(row)
        click.confirm("Let the agent use this?", abort=True, err=True)
    elif len(digest) < len("0123456789ab") or not row["digest"].startswith(digest):
        raise Fail(f"the skill {name} is another version now; look at its diff again.", CONFLICT)
    accepted = answers.accept_skill(name, row["digest"])
    if json_:
        return show_json(accepted)
    click.echo(f"Accepted: {name}, version {row['digest'][:12]}.")


def _show(row: dict[str, Any]) -> None:
    click.echo(row["diff"] or "Nothing is new in it.")
    click.echo()
    for why in row["why"]:
        click.echo(harmless(f"Look at {why}."))
    click.echo(f"{row['name']} is {row['state']}, version {row['digest'][:12]}.")
