"""The map of the rooms in CONTRIBUTING.md is the map of this house."""

from __future__ import annotations

import ast
import re
import tomllib

from tests.docs.reading import ROOT

HOUSE = ROOT / "daemon" / "wakeful"
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_every_file_of_the_map_is_there() -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE)
    assert len(named) > 40
    assert [name for name in named if not (HOUSE / name).is_file()] == []


def test_the_floors_are_those_that_are_proven() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    proven = [set(re.findall(r"(?<!\()\b\w+\b(?!\))", layer)) for layer in layers]
    table = PAGE.partition("| floor | what it is for |")[2].partition("\n\n")[0]
    told = [set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines()[2:]]
    assert told == proven


def test_the_first_line_of_each_file_says_what_it_holds() -> None:
    silent = []
    for path in HOUSE.rglob("*.py"):
        text = path.read_text("utf-8")
        if not (ast.get_docstring(ast.parse(text)) and text.startswith('"""')):
            silent.append(path.name)
    assert silent == []
