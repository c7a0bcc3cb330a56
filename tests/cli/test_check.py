"""`wakeful check` says all faults at once."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli
from wakeful.cli import exits


def test_every_fault_at_once_with_its_place(cli: Cli, home: Path) -> None:
    (home / "agent.toml").write_text('model = "rehearsal"\n[limits]\nstepz = 3\n')
    (home / "schedules" / "bad.md").write_text("---\ncron: 61 * * * *\n---\nHello.\n")
    shown = cli("check")
    assert shown.code == exits.FOLDER
    assert "agent.toml:3" in shown.out and "steps" in shown.out
    assert "schedules/bad.md:2" in shown.out
    assert "2 faults" in shown.out


def test_as_json(cli: Cli, home: Path) -> None:
    (home / "schedules" / "bad.md").write_text("---\ncron: 61 * * * *\n---\nHello.\n")
    found = cli("check", "--json").json
    assert [(fault["file"], fault["line"]) for fault in found if not fault["warning"]] == [
        ("schedules/bad.md", 2)
    ]


def test_the_folder_may_be_named_in_three_ways(home: Path) -> None:
    outside = Cli(home.parent)
    for words in (("check", home.name), ("check", "-C", home.name), ("-C", home.name, "check")):
        assert outside(*words).code == 0, words


def test_from_below_the_folder(home: Path) -> None:
    assert Cli(home / "tools")("check").code == 0


def test_the_tools_as_the_model_sees_them(cli: Cli, home: Path) -> None:
    shown = cli("check", "--tools")
    assert shown.code == 0, shown.out
    assert "## days_until (tools/dates.py)" in shown.out and '"type": "string"' in shown.out
    (home / "tools" / "odd.py").write_text(
        'def add(pair: tuple[int, int]) -> str:\n    """Add.\n\n    Args:\n        pair: two."""\n'
        "    return str(sum(pair))\n"
    )
    shown = cli("check", "--tools", "--json")
    assert shown.code == exits.FOLDER
    assert "add" in [tool["name"] for tool in shown.json["tools"]]
    assert [(fault["key"], fault["warning"]) for fault in shown.json["faults"]] == [
        ("add", False),
        ("add", True),
    ]
    assert "providers refuse a list" in cli("check", "--tools").out
