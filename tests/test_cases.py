"""`cases.md` says which test answers which case; here the page is held to the truth."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "cases.md"
ROW = re.compile(r"\| ([A-Z]\d+) \| (.+?) \| (.+) \|")
NAMED = re.compile(r"test_((?:[A-Z]\d+_)+)")
WHY_NOT = "why not: "
MOST = 5  # cases that may be answered by a reason instead of a test

# The cases that the first release must answer.
REQUIRED = (
    *(f"D{number}" for number in (1, 2, 4, 5, 6, 8, 10, 11, 12, 13, 17, 19, 22, 23)),
    *("C1", "C4", "W5", "W6", "W7", "W9", "P5", "P6", "P12", "P15", "P16", "P20"),
)


def listed() -> dict[str, set[str]]:
    """What the page says, by case."""
    rows = (ROW.fullmatch(line) for line in PAGE.read_text().splitlines())
    return {row[1]: set(re.findall(r"`(.+?)`", row[3])) for row in rows if row}


def reasons() -> list[str]:
    return [line for line in PAGE.read_text().splitlines() if f"| {WHY_NOT}" in line]


def suite() -> Iterator[tuple[str, str]]:
    """Every test of the suite with the text that names it, `<path>::<name>`."""
    for file in sorted(HERE.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if node.name.startswith("test_"):
                yield node.name, f"{file.relative_to(HERE.parent).as_posix()}::{node.name}"


def named() -> dict[str, set[str]]:
    """What the names of the tests say, by case."""
    found: dict[str, set[str]] = {}
    for name, place in suite():
        if match := NAMED.match(name):
            for case in match[1].strip("_").split("_"):
                found.setdefault(case, set()).add(place)
    return found


def test_every_row_of_the_page_is_read() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cases = [row[1] for line in rows if (row := ROW.fullmatch(line))]
    assert len(cases) == len(rows) - 1  # the head of the table
    assert cases == sorted(set(cases), key=lambda case: (case[0], int(case[1:])))


def test_every_test_of_the_page_exists_and_is_named_after_its_case() -> None:
    known = named()
    wrong = {case: places - known.get(case, set()) for case, places in listed().items()}
    assert {case: sorted(places) for case, places in wrong.items() if places} == {}


def test_every_test_that_is_named_after_a_case_stands_on_the_page() -> None:
    page = listed()
    missing = {case: places - page.get(case, set()) for case, places in named().items()}
    assert {case: sorted(places) for case, places in missing.items() if places} == {}, (
        "add them to their rows in tests/cases.md"
    )


def test_every_case_that_is_owed_is_answered_and_few_by_a_reason() -> None:
    page, excused = listed(), {line.split("|")[1].strip() for line in reasons()}
    assert [case for case in REQUIRED if not page.get(case) and case not in excused] == []
    assert len(excused) <= MOST
