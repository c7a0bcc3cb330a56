"""`wakeful schedules`: what is planned, what comes next, and one run by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wakeful.cli.ask import ask
from wakeful.cli.exits import UNKNOWN, Fail
from wakeful.cli.folder import as_json, in_folder, settings_of, zone_of
from wakeful.cli.table import show_json, show_table, when

if TYPE_CHECKING:
    from wakeful.schedule import Rule

COLUMNS = ("name", "when", "next", "last", "outcome")


@click.group(invoke_without_command=True)
@in_folder
@as_json
@click.pass_context
def schedules(ctx: click.Context, home: Path, json_: bool) -> None:
    """List the schedules, look ahead, or run one now."""
    if ctx.invoked_subcommand:
        ctx.obj = str(home)
        return
    rows = ask(home).schedules()
    if json_:
        return show_json(rows)
    zone = zone_of(home)
    shown = [
        {
            **row,
            "when": _when(row["name"], row["spec"]),
            "next": when(row["next_at"], zone),
            "last": when(row["last_at"], zone),
        }
        for row in rows
    ]
    show_table(shown, COLUMNS, empty="No schedules; a file in schedules/ makes one.")


@schedules.command("next")
@in_folder
@as_json
@click.argument("name")
@click.option("-n", "count", type=click.IntRange(1, 1000), default=10, show_default=True)
def coming(home: Path, json_: bool, name: str, count: int) -> None:
    """Show when a schedule fires next, in its own time zone and in UTC."""
    from time import time_ns

    from wakeful.schedule.fires import preview

    rule, now = _rule(home, name), time_ns() // 1_000_000
    found = preview(rule, now, count, anchor=_anchor(home, rule, now))
    if json_:
        return show_json([{"local": one.local, "utc": one.utc, "note": one.note} for one in found])
    for one in found:
        click.echo(str(one))
    if not found:
        click.echo(f"{name} does not fire again.")


@schedules.command("run")
@in_folder
@as_json
@click.argument("name")
def run_now(home: Path, json_: bool, name: str) -> None:
    """Fire a schedule now, besides its plan."""
    answers = ask(home)
    event = answers.run_schedule(name)
    if json_:
        return show_json({"schedule": name, "event": event})
    later = "" if answers.running else " It runs when the daemon is started."
    click.echo(f"{name} fired as event {event}.{later}")
    click.echo(f"See it: wakeful runs show {event}")


def _when(name: str, spec: dict[str, Any]) -> str:
    """The rule in the words of its file."""
    from json import dumps

    from wakeful.schedule.spec import from_spec
    from wakeful.schedule.spec import when as in_words

    return in_words(from_spec(name, dumps(spec)))


def _anchor(home: Path, rule: Rule, now: int) -> int:
    """Where a schedule's intervals count from: its next time is known once a daemon has run."""
    from wakeful.schedule.times import parse_at

    if rule.every is None:
        return 0
    try:
        rows = ask(home).schedules()
    except Fail:
        return now
    for row in rows:
        if row["name"] == rule.name and row["next_at"] and row["spec"].get("every") == rule.every:
            return parse_at(row["next_at"], "UTC") - round(rule.every * 1000)
    return now


def _rule(home: Path, name: str) -> Rule:
    """The rule as its file says it now."""
    from wakeful.config import unknown
    from wakeful.plugs import Folder

    snapshot = Folder(home, settings_of(home)).scan()
    rules = {rule.name: rule for rule in snapshot.schedules}
    if name not in rules:
        raise Fail(f"{unknown('schedule', name, rules)}.", UNKNOWN)
    return rules[name]
