"""Every command that the docs show is one that the command line understands."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from tests.docs.reading import ROOT, commands, table_below
from wakeful.cli.commands import COMMANDS
from wakeful.cli.exits import MEANINGS
from wakeful.cli.init import planned
from wakeful.cli.root import wakeful

STAND_INS = {"EVENT": "1", "COMMAND": "status"}


@pytest.mark.parametrize(("page", "shown"), commands())
def test_shown_commands_parse(
    page: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in planned(tmp_path).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    words = [STAND_INS.get(word, word) for word in shlex.split(shown)[1:]]
    words = [word for word in words if word != "my-agent"] if words[0] != "init" else words
    parse(wakeful, words)


def parse(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    """Let click read the words, down to the last sub-command, without calling anything."""
    if {"--help", "--version"} & set(words):
        return
    with command.make_context(command.name, list(words), parent=parent) as ctx:
        rest = [*ctx._protected_args, *ctx.args]
        if isinstance(command, click.Group) and rest:
            _, inner, left = command.resolve_command(ctx, rest)
            assert inner is not None
            parse(inner, left, ctx)


def test_every_command_is_shown_somewhere() -> None:
    shown = {words.split()[1] for _, words in commands()}
    assert set(COMMANDS) - shown == {"demo"} - shown


def test_the_exit_codes_are_those_of_the_code() -> None:
    told = table_below(ROOT / "docs/operations.md", "## Exit codes")
    assert {int(code): meaning for code, (meaning,) in told.items()} == MEANINGS
