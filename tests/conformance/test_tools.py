"""What every tool of ours keeps to, whoever writes the next one."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from tests.conformance.plugs import everything, forbidden_imports, ours
from wakeful.agent.tools import as_tool, read_docstring
from wakeful.plugs import ToolPlug
from wakeful.plugs.find import Entry
from wakeful.plugs.tools import parameters
from wakeful.tool import MARK, Call

TOOLS = [pytest.param(plug, id=plug.name) for plug in everything().tools]
FILES = [pytest.param(entry, id=entry.name) for entry in ours("tools")]
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what the providers accept
LONGEST = 1024  # characters of a description, as the strictest of them does


def schema(plug: ToolPlug) -> dict[str, Any]:
    made = as_tool(plug.name, plug.function).get_input_jsonschema()
    return made


def test_all_files_load_without_a_word() -> None:
    assert [str(fault) for fault in everything().faults] == []
    assert {plug.file for plug in everything().tools} == {entry.file for entry in ours("tools")}


@pytest.mark.parametrize("entry", FILES)
def test_a_file_imports_contracts_only_and_nothing_heavy(entry: Entry) -> None:
    assert forbidden_imports(entry) == []


@pytest.mark.parametrize("plug", TOOLS)
def test_it_says_what_it_does_to_the_world(plug: ToolPlug) -> None:
    assert hasattr(plug.function, MARK), "decorate it: @tool(effect=...)"
    assert plug.traits.effect in ("read", "repeat", "once")
    assert plug.traits.approve in ("never", "once", "always")


@pytest.mark.parametrize("plug", TOOLS)
def test_it_does_not_block_the_loop(plug: ToolPlug) -> None:
    assert inspect.iscoroutinefunction(plug.function)


@pytest.mark.parametrize("plug", TOOLS)
def test_its_docstring_tells_the_model_what_and_when(plug: ToolPlug) -> None:
    description, arguments = read_docstring(inspect.getdoc(plug.function) or "")
    assert re.match(r"[A-Z].*\.", description), "begin with a sentence"
    assert len(description) <= LONGEST
    assert set(arguments) == set(parameters(plug.function)), "describe every argument, no other"
    assert all(len(text) >= 10 for text in arguments.values())


@pytest.mark.parametrize("plug", TOOLS)
def test_its_schema_is_one_that_providers_accept(plug: ToolPlug) -> None:
    made = schema(plug)
    assert NAME.fullmatch(plug.name)
    assert made["type"] == "object"
    assert set(made["properties"]) == set(parameters(plug.function))
    for name, property_ in made["properties"].items():
        assert NAME.fullmatch(name)
        assert property_["description"].strip()
        assert property_.get("type") or property_.get("anyOf") or property_.get("enum")


@pytest.mark.parametrize("plug", TOOLS)
def test_the_call_is_never_shown_to_the_model(plug: ToolPlug) -> None:
    hidden = set(inspect.signature(plug.function).parameters) - set(parameters(plug.function))
    assert hidden <= {"call"}
    assert not hidden & set(schema(plug)["properties"])
    if hidden:
        assert plug.function.__annotations__["call"] in (Call, "Call")
