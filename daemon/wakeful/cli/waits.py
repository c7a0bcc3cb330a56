"""`wakeful waits`, `approve` and `reject`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wakeful.cli.ask import Answers, ask
from wakeful.cli.exits import CONFLICT, UNKNOWN, Fail
from wakeful.cli.folder import as_json, in_folder, zone_of
from wakeful.cli.table import show_json, show_table, when
from wakeful.events import WAIT_STATES

COLUMNS = ("id", "kind", "thread", "since", "title")
STATES = (*WAIT_STATES, "all")
NOTHING = "Nothing waits for a person."
WAYS = "Answer with `wakeful approve ID` or `wakeful reject ID`; the beginning of an ID is enough."


@click.command()
@in_folder
@as_json
@click.option("--state", type=click.Choice(STATES), default="open", show_default=True)
def waits(home: Path, json_: bool, state: str) -> None:
    """List the questions that wait for a person."""
    rows = ask(home).waits(state)
    if json_:
        return show_json(rows)
    zone = zone_of(home)
    shown = [{**row, "since": when(row["created_at"], zone)} for row in rows]
    empty = NOTHING if state == "open" else f"No question is {state}."
    # Whoever decides must see all of it: the end of an address is where it may go wrong.
    show_table(shown, COLUMNS, empty=empty, whole=("title",))
    if any(row["state"] == "open" for row in rows):
        click.echo(WAYS, err=True)


@click.command()
@in_folder
@as_json
@click.argument("wait", metavar="ID")
def approve(home: Path, json_: bool, wait: str) -> None:
    """Let the call go on that waits under ID; its beginning is enough when it is the only one."""
    _decide(home, wait, {"decision": "approve"}, json_)


@click.command()
@in_folder
@as_json
@click.argument("wait", metavar="ID")
@click.option("--reason", default="", help="Told to the agent.")
def reject(home: Path, json_: bool, wait: str, reason: str) -> None:
    """Turn the call down that waits under ID; its beginning is enough when it is the only one."""
    _decide(home, wait, {"decision": "reject", "reason": reason}, json_)


def _decide(home: Path, start: str, decision: dict[str, Any], json_: bool) -> None:
    answers = ask(home)
    asked = _the_wait(answers, start)
    decided = answers.decide(asked["id"], {**decision, "digest": asked["digest"]})
    if json_:
        return show_json(decided)
    word = "Approved" if decision["decision"] == "approve" else "Rejected"
    later = "" if answers.running else " The run goes on when the daemon is started."
    click.echo(f"{word}: {asked['title']}{later}")


def _the_wait(answers: Answers, start: str) -> dict[str, Any]:
    """The one wait whose id begins like this; it says what is decided, digest included."""
    every = answers.waits("all")
    found = [row for row in every if row["id"] == start] or [
        row for row in every if row["id"].startswith(start) and row["state"] == "open"
    ]
    if not found:
        raise Fail(f"no question waits under {start}; `wakeful waits` lists them.", UNKNOWN)
    if len(found) > 1:
        raise Fail(f"{len(found)} questions begin with {start}; write more of the id.", UNKNOWN)
    if found[0]["state"] != "open":
        raise Fail(f"the question {start} is closed: {_how(found[0])}.", CONFLICT)
    return dict(found[0])


def _how(wait: dict[str, Any]) -> str:
    """How a question ended."""
    made = wait.get("decision")
    if not made:
        return str(wait["state"])
    words = {"approve": "approved", "edit": "approved with changes", "reject": "rejected"}
    return f"{words.get(made['decision'], made['decision'])} by {made['by']}"
