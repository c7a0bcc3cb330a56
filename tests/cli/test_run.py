"""What `wakeful run` is told on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.cli.conftest import Cli
from wakeful.cli import exits
from wakeful.cli.run import overrides


def test_values_are_toml_and_anything_else_is_a_text() -> None:
    given = ["limits.steps=5", 'model="rehearsal"', "timezone=Europe/Berlin", "use.skills=['a']"]
    assert overrides(given) == {
        "limits": {"steps": 5},
        "model": "rehearsal",
        "timezone": "Europe/Berlin",
        "use": {"skills": ["a"]},
    }
    assert overrides(["limits.steps=5", "limits.attempts=2", "limits.steps=6"]) == {
        "limits": {"steps": 6, "attempts": 2}
    }


@pytest.mark.parametrize("word", ["limits", "=5", "limits.=5", ".steps=5"])
def test_what_is_no_setting_is_said_so(word: str) -> None:
    with pytest.raises(click.BadParameter, match="KEY=VALUE"):
        overrides([word])


def test_a_value_cannot_be_a_table_as_well() -> None:
    with pytest.raises(click.BadParameter, match="at once"):
        overrides(["limits=5", "limits.steps=5"])


def test_a_mistyped_setting_is_named_with_the_nearest_right_one(cli: Cli) -> None:
    shown = cli("run", "--set", "limits.stepps=5")
    assert shown.code == exits.FOLDER
    assert "the command line: limits.stepps" in shown.err and '"steps"' in shown.err


def test_the_command_line_wins_over_environment_and_file(cli: Cli, home: Path) -> None:
    with (home / "agent.toml").open("a") as file:
        file.write('\n[server]\nbind = "127.0.0.1:1"\n')
    daemon = subprocess.Popen(
        [sys.executable, "-m", "wakeful", "run", "--set", "server.bind=127.0.0.1:0"],
        cwd=home,
        env={**cli.env, "WAKEFUL_SERVER__BIND": "127.0.0.1:2"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert daemon.stdout is not None and "awake at" in daemon.stdout.readline()
        assert json.loads(cli("status", "--json").out)["daemon"] == "running"
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.communicate(timeout=60)
    assert daemon.returncode == 0
