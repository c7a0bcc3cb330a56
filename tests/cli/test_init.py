"""`wakeful init` writes a folder that works, and never over anything."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli
from wakeful.cli import exits


def test_it_writes_a_folder_that_check_passes(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    assert "Wrote 7 files" in cli("init", "bot").out
    checked = cli("check", "bot")
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.rstrip().endswith("bot: no faults.")


def test_it_writes_into_the_folder_that_we_stand_in(tmp_path: Path) -> None:
    assert Cli(tmp_path)("init").code == 0
    assert (tmp_path / ".gitignore").read_text().rstrip().endswith(".wakeful/")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("mine\n")
    shown = Cli(tmp_path)("init")
    assert shown.code == exits.FOLDER
    assert "AGENTS.md is here already" in shown.err
    assert [path.name for path in tmp_path.iterdir()] == ["AGENTS.md"]
    assert (tmp_path / "AGENTS.md").read_text() == "mine\n"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "bot").write_text("")
    shown = Cli(tmp_path)("init", "bot")
    assert shown.code == exits.FOLDER and "is a file" in shown.err
