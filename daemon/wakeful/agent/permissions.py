"""Which files of the workspace the agent may read and write: `[[files]]` of agent.toml."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Literal

from wakeful.config import FileRule

Deed = Literal["read", "write"]

REFUSED = "Error: '{path}' may not be {done} by you; [[files]] of agent.toml says so."
DONE: dict[Deed, str] = {"read": "read", "write": "written"}


def may(rules: Iterable[FileRule], deed: Deed, path: str) -> bool:
    """What the first rule says whose path is this file or a folder above it; without one, yes."""
    for rule in rules:
        if _pattern(rule.path).fullmatch(path):
            return rule.read if deed == "read" else rule.write
    return True


def refusal(rules: Iterable[FileRule], path: str, *deeds: Deed, shown: str) -> str | None:
    """The sentence for the agent when one of the deeds is not allowed."""
    for deed in deeds:
        if not may(rules, deed, path):
            return REFUSED.format(path=shown, done=DONE[deed])
    return None


@functools.lru_cache(maxsize=256)
def _pattern(path: str) -> re.Pattern[str]:
    """`*` and `?` stay within one name, `**` crosses folders; a folder means what is in it too."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", path.rstrip("/"))
    return re.compile("".join(words.get(p) or re.escape(p) for p in pieces) + "(?:/.*)?", re.DOTALL)
