"""Secrets are stored by name and never shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    key = tmp_path / "keyring.key"
    text = f'model = "rehearsal"\n[secrets]\nbackend = "file"\nkey_file = "{key}"\n'
    (folder / "agent.toml").write_text(text)
    return folder


def secrets(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {name: each for name, each in os.environ.items() if name != "CANARY"}
    environment.pop("CREDENTIALS_DIRECTORY", None)
    return subprocess.run(
        [sys.executable, "-m", "wakeful", "secrets", *words],
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_set_test_delete(agent: Path) -> None:
    missing = secrets(agent, "test", "CANARY")
    assert missing.returncode == 1
    assert "wakeful secrets set CANARY" in missing.stdout
    stored = secrets(agent, "set", "CANARY", given="value-1\n")
    assert (stored.returncode, stored.stdout) == (0, 'Stored. Settings name it "secret:CANARY".\n')
    assert secrets(agent, "test", "CANARY").stdout == "Yes.\n"
    assert secrets(agent, "delete", "CANARY").stdout == "Deleted.\n"
    assert "no secret" in secrets(agent, "delete", "CANARY").stdout
    assert secrets(agent, "test", "CANARY").returncode == 1


def test_X4_no_command_shows_a_value(agent: Path) -> None:
    secrets(agent, "set", "CANARY", given="value-1\n")
    for words in (("test", "CANARY"), ("set", "CANARY"), ("--help",)):
        done = secrets(agent, *words, given="value-2")
        assert "value" not in (done.stdout + done.stderr).replace("The value", "")
    kept = (agent / ".wakeful" / "secrets.json").read_text()
    assert "value" not in kept


def test_nothing_and_bad_names_are_refused(agent: Path) -> None:
    assert secrets(agent, "set", "CANARY", given="\n").returncode == 2
    refused = secrets(agent, "set", "a b", given="x")
    assert refused.returncode == 3
    assert "no name of a secret" in refused.stderr
