"""Markdown with YAML front matter: schedules, skills and subagents are written so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from wakeful.config.lines import KeyPath
from wakeful.errors import WakefulError

FENCE = "---"


class FrontMatterError(WakefulError):
    """The front matter cannot be read."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The settings at the head of a file, the text below them, and the line of each key."""

    data: Mapping[str, Any]
    body: str
    lines: Mapping[str, int]

    @property
    def paths(self) -> dict[KeyPath, int]:
        """The lines, as `explain` takes them."""
        return {(key,): line for key, line in self.lines.items()}


class _Loader(yaml.SafeLoader):
    """Dates stay text: what they mean depends on the time zone of the reader."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_front_matter(text: str) -> FrontMatter:
    """Split a file into front matter and body. Raises FrontMatterError with the line."""
    rows = text.removeprefix("\ufeff").splitlines()
    if not rows or rows[0].rstrip() != FENCE:
        raise FrontMatterError(f'the file must begin with a line "{FENCE}" and its settings', 1)
    end = next((n for n, row in enumerate(rows[1:], 1) if row.rstrip() == FENCE), None)
    if end is None:
        raise FrontMatterError(f'the settings have no end; close them with a line "{FENCE}"', 1)
    data, lines = _mapping("\n".join(rows[1:end]))
    return FrontMatter(data, "\n".join(rows[end + 1 :]).strip(), lines)


def _mapping(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    try:
        loader = _Loader(text)
    except yaml.YAMLError as error:
        raise _unreadable(error) from None
    try:
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        if not isinstance(node, yaml.MappingNode):
            raise FrontMatterError('write each setting as "key: value"', node.start_mark.line + 2)
        lines = _key_lines(node)
        return dict(loader.construct_document(node)), lines
    except yaml.YAMLError as error:
        raise _unreadable(error) from None
    except (ValueError, RecursionError):  # numbers and nests that no person writes
        raise FrontMatterError("it is not YAML that can be read", 2) from None
    finally:
        loader.dispose()


def _key_lines(node: yaml.MappingNode) -> dict[str, int]:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 2  # the fence is line 1
        if not isinstance(key, yaml.ScalarNode):
            raise FrontMatterError("a setting's name must be a word", line)
        if key.value in lines:
            raise FrontMatterError(f'"{key.value}" stands here twice; keep one', line)
        lines[key.value] = line
    return lines


def _unreadable(error: yaml.YAMLError) -> FrontMatterError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "it is not YAML"
    hint = "; put quotes around a text that holds a colon" if "mapping values" in problem else ""
    return FrontMatterError(f"{problem}{hint}", (mark.line if mark else 0) + 2)
