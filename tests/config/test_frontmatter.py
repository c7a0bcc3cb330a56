from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeful.config import FrontMatterError, read_front_matter


def test_settings_body_and_lines() -> None:
    front = read_front_matter("---\ncron: '0 9 * * 1'\n\ntools: [a, b]\n---\n\nDo it.\n---\nmore\n")
    assert front.data == {"cron": "0 9 * * 1", "tools": ["a", "b"]}
    assert front.body == "Do it.\n---\nmore"
    assert front.lines == {"cron": 2, "tools": 4}
    assert front.paths == {("cron",): 2, ("tools",): 4}


def test_dates_stay_text() -> None:
    assert read_front_matter("---\nat: 2027-03-14 02:30\n---\n").data["at"] == "2027-03-14 02:30"


def test_no_settings_at_all() -> None:
    front = read_front_matter("---\n---\nonly text")
    assert (front.data, front.body) == ({}, "only text")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("no fence", 1, "must begin with"),
        ("", 1, "must begin with"),
        ("---\na: 1\n", 1, "have no end"),
        ("---\na: 1\nb: c: d\n---\n", 3, "quotes around a text"),
        ("---\na: 1\na: 2\n---\n", 3, "stands here twice"),
        ("---\n- a\n---\n", 2, "key: value"),
        ("---\n[a]: 1\n---\n", 2, "must be a word"),
        ("---\na: [1\n---\n", 2, "expected"),
        ("---\na: !!python/object:os.system x\n---\n", 2, "constructor"),
    ],
)
def test_faults_name_the_line(text: str, line: int, words: str) -> None:
    with pytest.raises(FrontMatterError, match=words) as caught:
        read_front_matter(text)
    assert caught.value.line == line


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for each in (text, f"---\n{text}\n---\nbody"):
        try:
            read_front_matter(each)
        except FrontMatterError as error:
            assert error.line >= 1
