from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from wakeful.skills.diff import compare, plainly

FILES = st.dictionaries(
    st.text("ab./", min_size=1, max_size=4), st.text(max_size=30).map(str.encode), max_size=3
)


def test_a_new_a_changed_and_a_removed_file() -> None:
    before = {"SKILL.md": b"one\ntwo\n", "gone.md": b"x\n", "same": b"s"}
    shown = compare(before, {"SKILL.md": b"one\nthree\n", "new.sh": b"ls\n", "same": b"s"})
    assert shown.splitlines() == [
        *("--- SKILL.md", "+++ SKILL.md", "@@ -1,2 +1,2 @@", " one", "-two", "+three"),
        *("--- gone.md", "+++ nothing", "@@ -1 +0,0 @@", "-x"),
        *("--- nothing", "+++ new.sh", "@@ -0,0 +1 @@", "+ls"),
    ]


def test_what_is_no_text_is_named_by_its_size_and_digest() -> None:
    shown = compare({"a": b"\xff"}, {"a": b"\xff\xfe", "b": b""})
    assert "--- a: 1 bytes, sha256 a8100ae6" in shown
    assert "+++ a: 2 bytes, sha256" in shown
    assert shown.endswith("--- nothing\n+++ b")


def test_X16_nothing_in_it_hides_or_steers_the_terminal() -> None:
    trick = "\x1b[8mrm -rf /\x1b[0m\N{RIGHT-TO-LEFT OVERRIDE}\N{ZERO WIDTH SPACE}\r"
    assert "+<U+001B>[8mrm -rf /" in compare({}, {"a": trick.encode()})


@given(st.text())
def test_every_character_can_be_seen(text: str) -> None:
    shown = plainly(text)
    assert all(each in "\t " or unicodedata.category(each)[0] not in "CZ" for each in shown)


@given(FILES, FILES)
def test_every_difference_is_shown(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    shown = compare(before, after)
    assert bool(shown) is (before != after)
    lines = shown.split("\n")
    for name, data in after.items():
        if name not in before:
            for row in data.decode().split("\n"):
                assert not row or f"+{plainly(row)}" in lines
