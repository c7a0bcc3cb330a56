"""What the validator of a tool's arguments refuses although the model was never told of it.

The model is told a JSON schema; what it answers is checked by pydantic. A date's bound, a function
that checks, a type inside itself: such a constraint is lost on the way, and the model runs into it.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wakeful.agent.lint import nodes
from wakeful.agent.tools import read_docstring, schema_of
from wakeful.events import Fault

# A constraint of pydantic's -> the words that a JSON schema has for it.
WORDS: Mapping[str, tuple[str, ...]] = {
    "gt": ("exclusiveMinimum",),
    "ge": ("minimum",),
    "lt": ("exclusiveMaximum",),
    "le": ("maximum",),
    "multiple_of": ("multipleOf",),
    "pattern": ("pattern",),
    "min_length": ("minLength", "minItems", "minProperties"),
    "max_length": ("maxLength", "maxItems", "maxProperties"),
    "max_digits": (),
    "decimal_places": (),
}
APART = frozenset({"metadata", "serialization", "default", "expected", "config", "function"})
PREDICATE = "apply_known_metadata.<locals>.val_func"  # pydantic's wrapper around a Predicate

Node = Mapping[str, Any]


def lost(
    name: str, function: Callable[..., Any], parameters: Mapping[str, Any], file: str
) -> list[Fault]:
    """A warning for each constraint of an argument that its wire schema does not have."""
    _, arguments = read_docstring(inspect.getdoc(function) or "")
    model: Any = schema_of(name, function, arguments)
    core: Node = model.__pydantic_core_schema__
    definitions = {each["ref"]: each for each in core.get("definitions", ())}
    top = core["schema"] if core["type"] == "definitions" else core
    properties = parameters.get("properties", {})
    return [
        Fault(
            file=file,
            key=name,
            message=f'the model is not told that "{argument}" {what}; say so in its description',
            warning=True,
        )
        for argument, field in top["schema"]["fields"].items()
        for what in _lost_in(field["schema"], properties.get(argument, {}), definitions)
    ]


def _lost_in(core: Node, wire: Mapping[str, Any], definitions: Mapping[str, Node]) -> list[str]:
    told = {(key, str(value)) for node in nodes(wire) for key, value in _plain(node)}
    found = (what for node in _walk(core, definitions, ()) for what in _missing(node, told))
    return list(dict.fromkeys(found))


def _plain(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        if not isinstance(value, dict | list):
            yield key, _number(value)


def _missing(node: Node, told: set[tuple[str, str]]) -> Iterator[str]:
    if node["type"] == "itself":
        yield "may hold others of its kind, at any depth"
    for key, words in WORDS.items():
        if node.get(key) is not None:
            yield from _bound(key, node[key], words, told)
    if node["type"].startswith("function-"):
        yield from _checked(node["function"]["function"], told)


def _bound(
    key: str, value: Any, words: tuple[str, ...], told: set[tuple[str, str]]
) -> Iterator[str]:
    value = value.pattern if isinstance(value, re.Pattern) else value
    if not any((word, str(_number(value))) in told for word in words):
        yield f"has {key}={value}"


def _checked(function: Any, told: set[tuple[str, str]]) -> Iterator[str]:
    """Functions of pydantic's own belong to a type, whose format the model is told."""
    if isinstance(function, functools.partial):
        for key, value in function.keywords.items():
            yield from _bound(key, value, WORDS.get(key, ()), told)
        return
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if name == PREDICATE:
        yield "is checked by a Predicate"
    elif not str(getattr(function, "__module__", "")).startswith("pydantic"):
        yield f"is checked by {name.rpartition('.')[2]}()"


def _number(value: Any) -> Any:
    """1 and 1.0 and Decimal(1) are one bound."""
    try:
        return float(value) if not isinstance(value, bool | str) else value
    except (TypeError, ValueError):
        return value


def _walk(node: Any, definitions: Mapping[str, Node], inside: tuple[str, ...]) -> Iterator[Node]:
    """Every node of a core schema once on each way; a type inside itself ends it."""
    if isinstance(node, list | tuple):
        for each in node:
            yield from _walk(each, definitions, inside)
    elif isinstance(node, Mapping):
        if node.get("type") == "definition-ref":
            ref = node["schema_ref"]
            if ref in inside:
                yield {"type": "itself"}
            else:
                yield from _walk(definitions[ref], definitions, (*inside, ref))
            return
        if isinstance(node.get("type"), str):
            yield node
        for key, inner in node.items():
            if key not in APART:
                yield from _walk(inner, definitions, inside)
