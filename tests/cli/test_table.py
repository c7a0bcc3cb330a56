"""What is printed: tables, times with their zone, right plurals."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from wakeful.cli.table import plural, show_table, when


def test_a_table_is_aligned_under_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, object]] = [
        {"name": "a", "due_at": None},
        {"name": "longer", "due_at": True},
    ]
    show_table(rows, ("name", "due_at"), empty="none")
    assert capsys.readouterr().out.splitlines() == ["NAME    DUE AT", "a", "longer  yes"]


def test_no_rows_are_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    show_table([], ("name",), empty="Nothing waits for a person.")
    assert capsys.readouterr().out == "Nothing waits for a person.\n"


def test_long_text_stays_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_table([{"text": "a\nb " * 100}], ("text",), empty="")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[1].endswith("…")


@pytest.mark.parametrize(("count", "words"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_plurals(count: int, words: str) -> None:
    assert plural(count, "file") == words


def test_irregular_plurals() -> None:
    assert plural(2, "reply", "replies") == "2 replies"


def test_times_are_shown_in_a_zone_that_is_named() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert when("2027-03-14T06:59:00.000Z", berlin) == "2027-03-14 07:59:00 CET"
    assert when("2027-07-14T06:59:00.000Z", berlin) == "2027-07-14 08:59:00 CEST"
    assert when(None, berlin) == ""


def test_what_must_be_seen_whole_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"id": "x" * 100, "title": "y" * 100}
    show_table([row], ("id", "title"), empty="", whole=("title",))
    shown = capsys.readouterr().out
    assert "y" * 100 in shown and "x" * 100 not in shown
