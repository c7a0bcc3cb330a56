"""Where each key of a TOML file stands, so that a fault can name its line.

`tomllib` reads the values and forgets the places. This walks over text that `tomllib` has already
accepted and writes down one line number for each key, inline tables and arrays included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

KeyPath = tuple[str | int, ...]

_SKIP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' r"'''.*?'{3,5}|" r'"(?:\\.|[^"\\])*"|' r"'[^']*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: \d[^\s,\]}#]*)?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIMPLE = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def key_lines(text: str) -> dict[KeyPath, int]:
    """One line number (from 1) for each key path of valid TOML; array elements are numbered."""
    walk = _Walk(text)
    walk.document()
    return walk.lines


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """The line of the longest part of a path that stands in the file."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


def texts(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Path and text of everything that is a text inside settings."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts(inner, (*path, key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from texts(inner, (*path, index))


@dataclass
class _Walk:
    text: str
    at: int = 0
    lines: dict[KeyPath, int] = field(default_factory=dict)
    counts: dict[KeyPath, int] = field(default_factory=dict)  # tables of each [[array]] so far

    def document(self) -> None:
        table: KeyPath = ()
        self.skip()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip()

    def header(self) -> KeyPath:
        array = self.text.startswith("[[", self.at)
        self.at += 2 if array else 1
        place = self.at
        path: KeyPath = ()
        keys = self.keys()
        for key in keys[:-1]:
            path = self.note((*path, key), place)
            path = self.newest(path)
        path = self.note((*path, keys[-1]), place)
        if array:
            self.counts[path] = self.counts.get(path, -1) + 1
            path = self.note((*path, self.counts[path]), place)
        self.blank()
        self.at += 2 if array else 1
        return path

    def newest(self, path: KeyPath) -> KeyPath:
        return (*path, self.counts[path]) if path in self.counts else path

    def pair(self, table: KeyPath) -> None:
        place = self.at
        path = table
        for key in self.keys():
            path = self.note((*path, key), place)
        self.blank()
        self.at += 1  # the equals sign
        self.blank()
        self.value(path)

    def keys(self) -> list[str]:
        found: list[str] = []
        while True:
            self.blank()
            found.append(self.key())
            self.blank()
            if not self.text.startswith(".", self.at):
                return found
            self.at += 1

    def key(self) -> str:
        quoted = _STRING.match(self.text, self.at)
        if quoted:
            self.at = quoted.end()
            inner = quoted.group()[1:-1]
            return inner if quoted.group()[0] == "'" else _ESCAPE.sub(_unescape, inner)
        bare = _BARE.match(self.text, self.at)
        assert bare is not None, "the text was accepted by tomllib"
        self.at = bare.end()
        return bare.group()

    def value(self, path: KeyPath) -> None:
        start = self.text[self.at : self.at + 1]
        if start == "[":
            self.array(path)
        elif start == "{":
            self.inline(path)
        else:
            found = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
            assert found is not None, "the text was accepted by tomllib"
            self.at = found.end()

    def array(self, path: KeyPath) -> None:
        index = 0
        self.at += 1
        self.skip()
        while self.text[self.at] != "]":
            self.value(self.note((*path, index), self.at))
            index += 1
            self.comma()
        self.at += 1

    def inline(self, path: KeyPath) -> None:
        self.at += 1
        self.skip()
        while self.text[self.at] != "}":
            self.pair(path)
            self.comma()
        self.at += 1

    def comma(self) -> None:
        self.skip()
        if self.text[self.at] == ",":
            self.at += 1
            self.skip()

    def note(self, path: KeyPath, place: int) -> KeyPath:
        self.lines.setdefault(path, self.text.count("\n", 0, place) + 1)
        return path

    def skip(self) -> None:
        found = _SKIP.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at


def _unescape(found: re.Match[str]) -> str:
    if found[3]:
        return _SIMPLE.get(found[3], found[3])
    return chr(int(found[1] or found[2], 16))
