from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeful.plugs.skills import NAME, read_skill


def write(folder: Path, text: str, name: str = "expenses") -> Path:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "SKILL.md").write_text(text, "utf-8")
    return folder / name


def said(folder: Path, text: str, name: str = "expenses") -> list[str]:
    skill, faults = read_skill(write(folder, text, name))
    assert skill is None
    return [str(fault) for fault in faults]


def test_a_skill_of_the_open_format(tmp_path: Path) -> None:
    text = (
        "---\nname: expenses\ndescription: Does them. Use it for receipts.\nlicense: MIT\n"
        "compatibility: needs a shell\nallowed-tools: Read Bash(git:*)\n"
        "metadata:\n  author: example\n  version: 1.0\n---\n# How\n\nSteps.\n"
    )
    skill, faults = read_skill(write(tmp_path, text))
    assert faults == []
    assert skill is not None
    assert (skill.name, skill.body, skill.license) == ("expenses", "# How\n\nSteps.", "MIT")
    assert skill.allowed_tools == ("Read", "Bash(git:*)")
    assert skill.metadata == {"author": "example", "version": "1.0"}
    assert (skill.folder, skill.file) == (tmp_path / "expenses", "skills/expenses/SKILL.md")


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("name: other\ndescription: D", "SKILL.md:2: name: the name must be that of its folder"),
        ("name: Expenses\ndescription: D", "SKILL.md:2: name: a skill's name has lowercase"),
        ("name: expenses", "SKILL.md: description: this setting is needed"),
        ("name: expenses\ndescription: ''", "SKILL.md:3: description"),
        ("name: expenses\ndescription: " + "d" * 1025, "SKILL.md:3: description"),
        ("name: expenses\ndescription: a: b", "SKILL.md:3: mapping values"),
        ("name: expenses\ndescription: D\ndescripion: E", "SKILL.md:4: descripion: there is no"),
        ("name: expenses\ndescription: D\nmetadata: x", "SKILL.md:4: metadata"),
    ],
)
def test_what_is_refused(tmp_path: Path, head: str, words: str) -> None:
    assert words in said(tmp_path, f"---\n{head}\n---\nbody")[0]


def test_no_file_no_body_no_text(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert [str(f) for f in read_skill(tmp_path / "empty")[1]] == [
        "skills/empty: it has no SKILL.md"
    ]
    assert "write what to do" in said(tmp_path, "---\nname: expenses\ndescription: D\n---\n")[0]
    (tmp_path / "expenses" / "SKILL.md").write_bytes(b"---\n\xff")
    assert "UTF-8" in str(read_skill(tmp_path / "expenses")[1][0])


@given(st.text(st.characters(codec="ascii", exclude_characters="/\0"), min_size=1, max_size=70))
def test_names(name: str) -> None:
    parts = name.split("-")
    allowed = all(
        part and all(each in "abcdefghijklmnopqrstuvwxyz0123456789" for each in part)
        for part in parts
    )
    assert bool(NAME.fullmatch(name)) == allowed
