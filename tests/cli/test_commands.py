"""The table of commands is the truth about the commands, and costs nothing to show."""

from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest

from tests.cli.conftest import Cli
from wakeful.cli.commands import COMMANDS, help_text
from wakeful.cli.root import wakeful

HEAVY = ("click", "pydantic", "importlib.metadata", "asyncio", "sqlalchemy", "langchain")


def modules_after(code: str) -> set[str]:
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}\nimport sys, json; print('\\n' + json.dumps([*sys.modules]))",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(json.loads(shown.stdout.splitlines()[-1]))


def test_help_imports_nothing_heavy() -> None:
    loaded = modules_after("from wakeful.cli import main; main(['--help'])")
    assert loaded.isdisjoint(HEAVY)


def test_version_does_not_import_the_settings() -> None:
    code = "from wakeful.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass"
    assert modules_after(code).isdisjoint({"pydantic", "sqlalchemy"})


def test_looking_does_not_pay_for_the_agent(cli: Cli) -> None:
    code = f"from wakeful.cli import main\ntry: main(['status', '-C', {str(cli.cwd)!r}])\n"
    loaded = modules_after(code + "except SystemExit: pass")
    assert loaded.isdisjoint(
        {"langchain", "langchain_core", "langgraph", "deepagents", "slack_bolt"}
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_there_and_says_what_help_says(name: str) -> None:
    command = wakeful.get_command(click.Context(wakeful), name)
    assert command is not None
    assert command.name == name
    assert command.help


def test_help_lists_every_command() -> None:
    assert all(f"  {name} " in help_text() for name in COMMANDS)


@pytest.mark.parametrize("words", [["--help"], ["-h"], []])
def test_help_is_the_same_however_it_is_asked_for(words: list[str], cli: Cli) -> None:
    shown = cli(*words)
    assert (shown.code, shown.out.rstrip(), shown.err) == (0, help_text(), "")


def test_help_behind_an_option_is_the_same_too(cli: Cli) -> None:
    assert cli("-C", ".", "--help").out.rstrip() == help_text()


def test_a_mistyped_command_gets_the_nearest_right_word(cli: Cli) -> None:
    shown = cli("stats")
    assert shown.code == 2
    assert "Did you mean 'status'?" in shown.err
