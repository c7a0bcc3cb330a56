"""Errors are one sentence and a code, never a traceback."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from wakeful.cli import exits
from wakeful.errors import (
    AlreadyDecided,
    FolderFaulty,
    PortTaken,
    Refused,
    Stale,
    StoreBusy,
    StoreFull,
    Unknown,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FolderFaulty(), exits.FOLDER),
        (Unknown(), exits.UNKNOWN),
        (StoreBusy(), exits.UNAVAILABLE),
        (PortTaken("127.0.0.1:7777"), exits.UNAVAILABLE),
        (Stale(), exits.CONFLICT),
        (AlreadyDecided(), exits.CONFLICT),
        (StoreFull(), exits.STORE),
        (OSError(errno.ENOSPC, "No space left on device"), exits.STORE),
        (OSError(errno.EROFS, "Read-only file system"), exits.STORE),
        (Refused(), exits.FAILED),
        (OSError(), exits.FAILED),
    ],
)
def test_what_went_wrong_decides_the_code(error: Exception, code: int) -> None:
    assert exits.as_fail(error).exit_code == code


def test_every_code_has_a_meaning() -> None:
    codes = {value for name, value in vars(exits).items() if name.isupper() and name != "MEANINGS"}
    assert {code for code in codes if isinstance(code, int)} == set(exits.MEANINGS)


def test_a_folder_without_an_agent(tmp_path: Path) -> None:
    shown = Cli(tmp_path)("status")
    assert shown.code == exits.FOLDER
    assert "wakeful init" in shown.err and "Traceback" not in shown.err


def test_faulty_settings_name_line_and_nearest_word(cli: Cli, home: Path) -> None:
    (home / "agent.toml").write_text('model = "rehearsal"\ntimezon = "UTC"\n')
    shown = cli("status")
    assert shown.code == exits.FOLDER
    assert "agent.toml:2" in shown.err and "timezone" in shown.err


def test_a_bug_is_still_one_sentence_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "WAKEFUL_DEBUG" in exits.as_fail(KeyError("x")).message
    monkeypatch.setenv("WAKEFUL_DEBUG", "1")
    with pytest.raises(KeyError):
        exits.as_fail(KeyError("x"))


def test_a_model_that_cannot_be_fetched(cli: Cli) -> None:
    shown = cli("models", "add", "gpt-9")
    assert shown.code == exits.FAILED and "smollm2" in shown.err
