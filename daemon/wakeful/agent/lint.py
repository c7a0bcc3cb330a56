"""What is wrong with a tool as a provider gets it: what one refuses, or no model can follow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from wakeful.events import Fault

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")  # what OpenAI, Anthropic and Google all take
ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
NOT_ON_TOP = ("oneOf", "anyOf", "allOf", "not", "enum", "$ref")
FEW = 3  # words of a description that says something
ANYTHING = "the model is told that it, or a part of it, may be anything; give it a type"

Complaint = tuple[str, bool]  # and whether it is a warning only


def lint(name: str, description: str, parameters: Mapping[str, Any], file: str) -> list[Fault]:
    """Everything at once; warnings are what works and could work better."""
    complaints = [*_name(name), *_description(name, description), *_parameters(parameters)]
    return [Fault(file=file, key=name, message=text, warning=w) for text, w in complaints]


def _name(name: str) -> Iterator[Complaint]:
    if not NAME.fullmatch(name):
        yield (
            "not every provider takes this name; use at most 64 of a-z, A-Z, 0-9, _ and -,"
            " beginning with a letter",
            False,
        )


def _description(name: str, description: str) -> Iterator[Complaint]:
    words = re.findall(r"\w+", description.lower())
    if not words:
        yield "it has no description: that is all the model knows of it", False
    elif len(words) < FEW or set(words) <= set(re.findall(r"[^\W_]+", name.lower())):
        yield (
            "its description says no more than its name; say what it does and when to use it",
            True,
        )


def _parameters(schema: Mapping[str, Any]) -> Iterator[Complaint]:
    for key in NOT_ON_TOP:
        if key in schema:
            yield f'its arguments have "{key}" on top, which providers refuse', False
    if schema.get("type") != "object":
        yield "its arguments must be an object with a property for each", False
    properties = schema.get("properties", {})
    for argument, inner in properties.items():
        if not ARGUMENT.fullmatch(argument):
            yield f'not every provider takes an argument named "{argument}"', False
        if not str(inner.get("description", "")).strip():
            yield f'describe "{argument}" in the docstring, under Args:', True
        yield from ((f'"{argument}": {text}', warning) for text, warning in _inside(inner))


def _inside(schema: Mapping[str, Any]) -> Iterator[Complaint]:
    """Of one argument, at any depth; the same complaint once."""
    yield from dict.fromkeys(each for node in nodes(schema) for each in _of(node))


def _of(node: Mapping[str, Any]) -> Iterator[Complaint]:
    if node.get("type") == "array" and "items" not in node:
        yield "providers refuse a list that does not say what it holds; use list[...]", False
    if not set(node) - {"title", "description", "default"}:
        yield ANYTHING, True


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schema and every schema in it."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for key in ("properties", "$defs", "patternProperties"):
        inside = schema.get(key)
        for inner in inside.values() if isinstance(inside, Mapping) else ():
            yield from nodes(inner)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        each = schema.get(key)
        for inner in each if isinstance(each, list) else ():
            yield from nodes(inner)
    for key in ("items", "additionalProperties", "not", "propertyNames"):
        yield from nodes(schema.get(key))
