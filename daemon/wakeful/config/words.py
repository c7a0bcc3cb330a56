"""The nearest right word, and pydantic's errors as faults of a file."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from wakeful.config.lines import KeyPath, line_of
from wakeful.events import Fault
from wakeful.redact import redact

SECURITY = "security: "  # a validator's message that begins so makes a security fault

_MISSING = "this setting is needed"
_WRITE = {  # by the beginning of what pydantic calls it
    "tuple_": 'write a list, such as ["a", "b"]',
    "list_": 'write a list, such as ["a", "b"]',
    "int_": "write a whole number, without quotes",
    "float_": "write a number, without quotes",
    "bool_": "write true or false, without quotes",
    "string_": "write a text, in quotes",
    "model_": "write a table",
    "dict_": "write a table",
}
_SECRET_IN_TEXT = (
    "this setting is shown to people, so it may not come from a secret; write its value"
)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The right word that looks most like a wrong one, if any does."""
    known = {each.lower(): each for each in words}
    found = get_close_matches(word.lower().replace(" ", ""), known, n=1, cutoff=0.6)
    return known[found[0]] if found else None


def unknown(what: str, word: str, words: Iterable[str]) -> str:
    """A sentence about a wrong word, with the nearest right one or all of them."""
    known = sorted(words)
    near = nearest(word, known)
    if near:
        return f'there is no {what} "{word}"; did you mean "{near}"?'
    if not known:
        return f'there is no {what} "{word}", and none could stand here'
    return f'there is no {what} "{word}"; there are: {", ".join(known)}'


def explain(
    error: ValidationError,
    model: type[BaseModel],
    *,
    file: str,
    lines: Mapping[KeyPath, int],
) -> list[Fault]:
    """Every fault that pydantic found, each with its line, without the value that stands there."""
    found = [_Found(each, model) for each in error.errors(include_input=True)]
    return [_fault(each, model, file, lines) for each in found if not each.shadowed_by(found)]


class _Found:
    """One error of pydantic's, with the path that a person wrote."""

    def __init__(self, error: Any, model: type[BaseModel]) -> None:
        self.error, self.kind = error, error["type"]
        self.path = _written(self.kind, tuple(error["loc"]), model)
        if self.kind == "union_tag_invalid":
            self.path = (*self.path, error["ctx"]["discriminator"].strip("'"))

    def shadowed_by(self, others: Iterable[_Found]) -> bool:
        """Of "none" or a table, a table was meant: then only what is wrong inside it is of use."""
        return self.kind == "literal_error" and any(
            other.kind != "literal_error" and other.path[: len(self.path)] == self.path
            for other in others
        )


def _fault(found: _Found, model: type[BaseModel], file: str, lines: Mapping[KeyPath, int]) -> Fault:
    message = _message(found.error, model, found.path)
    return Fault(
        file=file,
        line=line_of(lines, found.path),
        key=".".join(str(part) for part in found.path),
        message=redact(message.removeprefix(SECURITY)),
        security=message.startswith(SECURITY),
    )


def _written(kind: str, path: KeyPath, model: type[BaseModel]) -> KeyPath:
    """The path without what pydantic adds for unions: names of types and tags that nobody wrote."""
    kept: KeyPath = ()
    models = {model}
    for index, part in enumerate(path):
        fields = [m.model_fields[part] for m in models if part in m.model_fields]
        last = index == len(path) - 1 and kind in ("missing", "extra_forbidden")
        if fields:
            models = {inner for info in fields for inner in _models(info.annotation)}
        if fields or last or not models or isinstance(part, int):
            kept = (*kept, part)
    return kept


def _message(error: Any, model: type[BaseModel], path: KeyPath) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return _unknown_key(model, path)
    if kind == "missing":
        return _MISSING
    if kind == "union_tag_invalid":
        tags = error["ctx"]["expected_tags"].replace("'", "").split(", ")
        return unknown("value", str(error["ctx"]["tag"]), tags)
    if kind == "string_type" and type(error["input"]).__name__ == "SecretStr":
        return _SECRET_IN_TEXT
    if kind.endswith(("_type", "_parsing", "_from_float")):
        return next((say for start, say in _WRITE.items() if kind.startswith(start)), error["msg"])
    message: str = error["msg"].replace("Input should be", "it should be", 1)
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")


def _unknown_key(model: type[BaseModel], path: KeyPath) -> str:
    word = str(path[-1])
    known = set(fields_at(model, path[:-1]))
    if len(path) == 1 and word not in known and not nearest(word, known):
        home = next((table for table, key in _nested(model) if key == word), None)
        if home:
            return f'"{word}" belongs into the table [{home}]'
    return unknown("setting", word, known)


def fields_at(model: type[BaseModel], path: KeyPath) -> Iterator[str]:
    """Names of the settings that may stand below a path."""
    models = {model}
    for part in path:
        if isinstance(part, str):
            inner = [m.model_fields[part].annotation for m in models if part in m.model_fields]
            models = {found for each in inner for found in _models(each)}
    for each in models:
        for name, info in each.model_fields.items():
            yield info.alias or name


def _nested(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for name, info in model.model_fields.items():
        for inner in _models(info.annotation):
            yield from ((name, key) for key in inner.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, Annotated, tuple, list, dict):
        for inner in get_args(annotation):
            yield from _models(inner)
