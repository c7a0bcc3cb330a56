from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wakeful.config.lines import KeyPath, key_lines, line_of

BARE = st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True)
QUOTED = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
SCALARS = st.one_of(
    st.integers(-(2**40), 2**40),
    st.booleans(),
    st.text(st.characters(codec="utf-8"), max_size=12),
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=6)
TABLES = st.recursive(
    st.dictionaries(st.one_of(BARE, QUOTED), VALUES, max_size=4),
    lambda inner: st.dictionaries(st.one_of(BARE, QUOTED), st.one_of(VALUES, inner), max_size=4),
    max_leaves=8,
)


class Writer:
    """Writes TOML in one of several spellings and notes where it put each key."""

    def __init__(self, noise: list[str], literal: bool) -> None:
        self.rows: list[str] = []
        self.noise, self.literal = noise, literal
        self.places: dict[KeyPath, int] = {}

    def table(self, values: dict[str, Any], path: KeyPath = ()) -> None:
        plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
        for key, value in plain.items():
            self.rows.extend(self.noise)
            self.places[(*path, key)] = len(self.rows) + 1
            self.rows.extend(f"{self.key(key)} = {self.value(value)}".split("\n"))
        for key, value in values.items():
            if isinstance(value, dict):
                self.rows.extend(self.noise)
                self.places[(*path, key)] = len(self.rows) + 1
                names = ".".join(self.key(str(part)) for part in (*path, key))
                self.rows.append(f"[ {names} ]  # [not] = a header")
                self.table(value, (*path, key))

    def key(self, key: str) -> str:
        bare = key.isascii() and all(each.isalnum() or each in "_-" for each in key)
        return key if bare and key else self.text(key)

    def value(self, value: Any) -> str:
        if isinstance(value, str):
            return f"'''\n{value}'''" if self.plain(value) else self.text(value)
        if isinstance(value, list):
            inner = "".join(f"  {self.value(each)}, # ]\n" for each in value)
            return f"[\n{inner}]" if value else "[ ]"
        return str(value).lower()

    def plain(self, value: str) -> bool:
        printable = all(each.isprintable() or each == "\n" for each in value)
        return self.literal and printable and "'" not in value

    def text(self, value: str) -> str:
        return json.dumps(value).replace("\x7f", "\\u007f")


def spelled(value: str) -> bool:
    """JSON writes characters beyond the first plane as two escapes, which TOML refuses."""
    return all(ord(each) < 0x10000 for each in value)


def all_texts(values: Any) -> bool:
    if isinstance(values, dict):
        return all(spelled(key) and all_texts(inner) for key, inner in values.items())
    if isinstance(values, list):
        return all(map(all_texts, values))
    return spelled(values) if isinstance(values, str) else True


@given(
    TABLES.filter(all_texts),
    st.lists(st.sampled_from(["", "# key = 1", "   # [table]", "\t"]), max_size=2),
    st.booleans(),
)
def test_every_key_is_found_on_its_line(
    values: dict[str, Any], noise: list[str], literal: bool
) -> None:
    writer = Writer(noise, literal)
    writer.table(values)
    text = "\n".join(writer.rows)
    tomllib.loads(text)
    found = key_lines(text)
    assert {path: found.get(path) for path in writer.places} == writer.places


@given(TABLES.filter(all_texts))
def test_each_path_is_a_path_of_the_values(values: dict[str, Any]) -> None:
    writer = Writer([], literal=False)
    writer.table(values)
    text = "\n".join(writer.rows)
    parsed = tomllib.loads(text)
    for path, line in key_lines(text).items():
        at: Any = parsed
        for part in path:
            at = at[part]
        assert 1 <= line <= max(1, len(writer.rows))


def test_inline_tables_dotted_keys_and_arrays_of_tables() -> None:
    text = """\
a.b = 1
"x y".'z' = { deep = { er = 2 }, other = [1,
  2] }
[[hooks]]
name = "one"
[[hooks]]
name = "two"
[hooks.inner]
when = 1979-05-27 07:32:00
text = \"\"\"
name = "not a key"
\"\"\"
last = 0x1F # = comment
"""
    tomllib.loads(text)
    lines = key_lines(text)
    assert lines[("a", "b")] == 1
    assert lines[("x y", "z", "deep", "er")] == 2
    assert lines[("x y", "z", "other", 1)] == 3
    assert lines[("hooks", 0, "name")] == 5
    assert lines[("hooks", 1, "name")] == 7
    assert lines[("hooks", 1, "inner", "when")] == 9
    assert lines[("hooks", 1, "inner", "last")] == 13


def test_escaped_keys() -> None:
    assert key_lines('"a\\u0062\\"" = 1') == {('ab"',): 1}


def test_line_of_falls_back_to_what_stands_in_the_file() -> None:
    lines: dict[KeyPath, int] = {("server",): 3, ("server", "bind"): 4}
    assert line_of(lines, ("server", "bind")) == 4
    assert line_of(lines, ("server", "missing")) == 3
    assert line_of(lines, ("model",)) is None
