"""What is imported is declared: nothing works only because something else happens to bring it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("daemon", "channels", "connections", "schedules", "skills", "tools")
WANTED = (  # by name, from the first release on
    *("apscheduler", "authlib", "deepagents", "keyring", "langgraph"),
    *("langgraph-checkpoint-sqlite", "pydantic-settings", "slack-bolt"),
)
PINNED = re.compile(r"[a-z0-9._-]+==\S+( ; .+)?")
FAMILY = ("deepagents", "langgraph", "langchain", "langchain-core", "langgraph-checkpoint-sqlite")


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[._-]+", "-", found[0]).lower()


def declared() -> set[str]:
    groups = [project()["dependencies"], *project()["optional-dependencies"].values()]
    return {name_of(each) for group in groups for each in group}


def imported() -> set[str]:
    """Top-level names that our shipped code imports, inside functions too."""
    files = [path for folder in SHIPPED for path in (ROOT / folder).rglob("*.py")]
    return {name.partition(".")[0] for path in files for name in _imports(path)}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def test_every_import_is_declared() -> None:
    owners = packages_distributions()
    foreign = imported() - set(sys.stdlib_module_names) - {"wakeful"}
    undeclared = {
        name
        for name in foreign
        if not {name_of(owner) for owner in owners.get(name, [])} & declared()
    }
    assert undeclared == set()


def test_the_packages_that_were_chosen_are_dependencies() -> None:
    assert set(WANTED) <= {name_of(each) for each in project()["dependencies"]}


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_the_lock_pins_everything_and_names_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text()
    pins = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in pins if not PINNED.fullmatch(line)] == []
    assert not re.search(r"://|^-", text, re.MULTILINE)
    names = {name_of(line) for line in pins}
    assert set(FAMILY) <= names
    assert {name_of(each) for each in project()["dependencies"]} <= names


def test_the_lock_of_the_tests_agrees_with_the_other() -> None:
    plain, dev = (
        set((ROOT / lock).read_text().splitlines()[2:])
        for lock in ("requirements.lock", "requirements-dev.lock")
    )
    assert plain <= dev
