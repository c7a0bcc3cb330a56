"""What a person reads before accepting a skill: every changed line, with nothing hidden in it."""

from __future__ import annotations

import difflib
import hashlib
import unicodedata
from collections.abc import Iterator, Mapping

Files = Mapping[str, bytes]


def compare(before: Files, after: Files) -> str:
    """A unified diff of two folders; empty when they hold the same."""
    names = sorted({*before, *after})
    changed = (name for name in names if before.get(name) != after.get(name))
    return "\n".join(line for name in changed for line in _file(name, before, after))


def plainly(text: str) -> str:
    """What cannot be seen is spelt out, so that it hides nothing and steers no terminal."""
    return "".join(
        each if each in "\t " or unicodedata.category(each)[0] not in "CZ" else _spelt(each)
        for each in text
    )


def _spelt(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def _file(name: str, before: Files, after: Files) -> Iterator[str]:
    old, new = before.get(name), after.get(name)
    label = plainly(name)
    texts = _rows(old), _rows(new)
    if texts[0] is None or texts[1] is None:
        yield f"--- {label}: {_weight(old)}"
        yield f"+++ {label}: {_weight(new)}"
        return
    was = label if old is not None else "nothing"
    now = label if new is not None else "nothing"
    rows = difflib.unified_diff(texts[0], texts[1], was, now, lineterm="")
    drawn = list(rows)
    yield from drawn or [f"--- {was}", f"+++ {now}"]


def _rows(data: bytes | None) -> list[str] | None:
    """None for what is no text."""
    try:
        rows = (data or b"").decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    if rows[-1] == "":
        rows.pop()
    return [plainly(row) for row in rows]


def _weight(data: bytes | None) -> str:
    if data is None:
        return "nothing"
    return f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}"
