"""What providers refuse, and what no model can follow."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.conformance.plugs import everything
from wakeful.agent.lint import FEW, lint
from wakeful.agent.tools import as_tool

SAYS = "Look up the balance of an account."
GOOD: dict[str, Any] = {"type": "integer", "description": "the account's number"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def said(parameters: Any, *, name: str = "balance", description: str = SAYS) -> list[str]:
    return [str(fault) for fault in lint(name, description, parameters, "tools/x.py")]


def test_a_good_tool_is_without_fault() -> None:
    assert said(schema()) == []
    assert said(schema(account=GOOD)) == []


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({**schema(), "anyOf": []}, '"anyOf" on top'),
        ({**schema(), "oneOf": []}, '"oneOf" on top'),
        ({**schema(), "allOf": []}, '"allOf" on top'),
        ({"type": "string"}, "must be an object"),
        ({}, "must be an object"),
        (schema(account={"type": "integer"}), 'describe "account"'),
        (schema(account={**GOOD, "description": " "}), 'describe "account"'),
        (schema(a={"type": "array", "description": "d"}), '"a": providers refuse a list'),
        (schema(a={"description": "d", "items": {}, "type": "array"}), '"a": the model is told'),
        (schema(**{"größe": GOOD}), 'an argument named "größe"'),
        (
            schema(a={**GOOD, "anyOf": [{"type": "object", "properties": {"b": {}}}]}),
            '"a": the model is told',
        ),
    ],
)
def test_each_fault_is_named(parameters: Any, words: str) -> None:
    [fault] = said(parameters)
    assert fault.startswith("tools/x.py: balance: ") and words in fault


@pytest.mark.parametrize("text", ["", "  ", "Balance.", "Get balance", "balance balance balance"])
def test_a_description_that_says_nothing(text: str) -> None:
    assert len(said(schema(), description=text)) == 1


@given(st.text(max_size=80))
def test_a_name_passes_when_every_large_provider_takes_it(name: str) -> None:
    takes = (
        r"[a-zA-Z0-9_-]{1,64}",  # OpenAI
        r"[a-zA-Z0-9_-]{1,128}",  # Anthropic
        r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",  # Google
    )
    assert (said(schema(), name=name) == []) is all(re.fullmatch(each, name) for each in takes)


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), unique=True), st.data())
def test_exactly_the_arguments_without_a_description_are_named(
    names: list[str], data: st.DataObject
) -> None:
    bare = data.draw(st.sets(st.sampled_from(names))) if names else set()
    parameters = schema(**{n: {"type": "string"} if n in bare else GOOD for n in names})
    assert len(said(parameters)) == len(bare)
    assert all(any(f'"{name}"' in each for each in said(parameters)) for name in bare)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(st.sampled_from(["type", "x", "title"]), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), st.dictionaries(st.text(max_size=5), JSON)), st.data())
def test_a_combination_on_top_is_never_missed(
    properties: dict[str, Any], data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(["oneOf", "anyOf", "allOf"]))
    assert any(f'"{key}" on top' in each for each in said({**schema(**properties), key: []}))


def test_our_own_tools_are_without_fault() -> None:
    for plug in everything().tools:
        tool = as_tool(plug.name, plug.function)
        wire = convert_to_openai_tool(tool)["function"]
        assert lint(plug.name, tool.description, wire["parameters"], plug.file) == []
        assert len(tool.description.split()) >= FEW
