"""Imports point down, and never round: those inside functions are counted, too."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "daemon" / "wakeful"
SCAFFOLD = {"template", "demo_agent"}  # files of other people's agents; none of ours imports them
# Room by room, who alone may know a family of libraries.
OWNERS = {"sqlalchemy": {"store"}, "langchain": {"agent", "rehearsal"}}


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found: dict[str, Path] = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if not SCAFFOLD & set(parts):
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(name: str, known: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a module loads, wherever in it that is written."""
    for node in ast.walk(ast.parse(known[name].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            below = [f"{node.module}.{each.name}" for each in node.names]
            yield from (each if each in known else str(node.module) for each in below)


def graph() -> dict[str, set[str]]:
    known = modules()
    return {name: set(imports(name, known)) - {name} for name in known}


def contracts() -> list[dict[str, Any]]:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return found


def test_no_module_imports_itself_on_a_detour() -> None:
    order = list(TopologicalSorter(graph()).static_order())  # raises CycleError with the circle
    assert len(order) > 100


def test_no_room_imports_another_one_that_imports_it() -> None:
    rooms: dict[str, set[str]] = {}
    for name, used in graph().items():
        room = name.split(".")[1] if "." in name else name
        rooms.setdefault(room, set()).update(each.split(".")[1] for each in used if "." in each)
    TopologicalSorter({room: used - {room} for room, used in rooms.items()}).prepare()


def test_a_new_room_is_held_to_every_contract() -> None:
    rooms = {name.split(".")[1] for name in modules() if name.count(".")} - {"__main__"}
    for contract in contracts():
        if contract["type"] == "forbidden":
            held = {name.removeprefix("wakeful.") for name in contract["source_modules"]}
            assert rooms - held == OWNERS[contract["forbidden_modules"][0]], contract["name"]
