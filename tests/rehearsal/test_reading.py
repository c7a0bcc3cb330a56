"""Faults of a script are named with file, line and the nearest right word."""

from __future__ import annotations

from pathlib import Path

import pytest

from wakeful.rehearsal.reading import ScriptFaulty, parse, read, script_faults


def faults(text: str) -> list[str]:
    with pytest.raises(ScriptFaulty) as caught:
        parse(text, "rehearsal.toml")
    return [str(fault) for fault in caught.value.faults]


def test_the_script_that_ships_is_sound() -> None:
    assert read().turns


def test_all_faults_are_told_at_once_each_with_its_line() -> None:
    found = faults(
        "[[turn]]\n"
        "when = 'a('\n"
        'steps = [{ say = "x" }]\n'
        "\n"
        "[[turn]]\n"
        "wen = 'b'\n"
        "steps = [\n"
        '  { say = "{colour}" },\n'
        '  { fial = "empty" },\n'
        '  { fail = "rate-limits" },\n'
        "]\n"
    )
    assert any(fault.startswith("rehearsal.toml:2: when: this is no regular") for fault in found)
    assert any(
        fault.startswith('rehearsal.toml:6: wen: there is no key "wen"; did you mean "when"?')
        for fault in found
    )
    assert any(fault.startswith("rehearsal.toml:5:") and "needs `when`" in fault for fault in found)
    assert any(fault.startswith("rehearsal.toml:8:") and '"colour"' in fault for fault in found)
    assert any(fault.startswith("rehearsal.toml:9: fial") for fault in found)
    assert any(
        fault.startswith("rehearsal.toml:10: fail") and "rate-limit" in fault for fault in found
    )


@pytest.mark.parametrize(
    ("step", "word"),
    [
        ('"text"', "table"),
        ("{ say = 3 }", "a text"),
        ('{ call = "x", args = 3 }', "table"),
        ("{ args = {} }", "args belong"),
        ('{ calls = [{ cal = "x" }] }', 'call = "tool"'),
        ('{ todos = ["a"] }', "todo"),
        ('{ say = "x", times = 0 }', "from 1 to"),
        ('{ say = "x", wait = true }', "seconds"),
        ("{ wait = 1 }", "needs one of"),
    ],
)
def test_a_wrong_step_says_what_to_write(step: str, word: str) -> None:
    found = faults(f"[[turn]]\nwhen = '.'\nsteps = [{step}]\n")
    assert any(word in fault and fault.startswith("rehearsal.toml:3") for fault in found)


def test_broken_toml_and_missing_files_are_faults_too(tmp_path: Path) -> None:
    assert faults("[[turn]\n")[0].startswith("rehearsal.toml:1: no TOML")
    assert faults("turn = 3\n")[0].startswith("rehearsal.toml:1: turn: write [[turn]]")
    with pytest.raises(ScriptFaulty, match="cannot be read"):
        read(tmp_path / "none.toml")


def test_check_reads_the_script_that_is_played_unnamed(tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text('model = "rehearsal"\n')
    assert script_faults(tmp_path) == []
    (tmp_path / "rehearsal.toml").write_text("[[turn]]\nwhen = '('\nsteps = [{ say = \"x\" }]\n")
    assert str(script_faults(tmp_path)[0]).startswith("rehearsal.toml:2: when: ")


def test_check_reads_the_script_that_the_folder_names(tmp_path: Path) -> None:
    settings = 'model = "rehearsal"\n[model_options]\nscript = "mine.toml"\n'
    (tmp_path / "agent.toml").write_text(settings)
    assert "cannot be read" in str(script_faults(tmp_path)[0])
    (tmp_path / "mine.toml").write_text("[[turn]]\nwhen = '('\nsteps = [{ say = \"x\" }]\n")
    assert str(script_faults(tmp_path)[0]).startswith("mine.toml:2: when: ")
    (tmp_path / "agent.toml").write_text(settings.replace('"rehearsal"', '"openai:x"'))
    assert script_faults(tmp_path) == []
