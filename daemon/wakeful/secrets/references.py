"""How settings name a secret: `secret:NAME`, or `${ENV}` inside any text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from wakeful.config import KeyPath, texts

SCHEME = "secret:"

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_KEY = re.compile(r"key|token|secret|passw|credential|authorization", re.IGNORECASE)
_SECRET_NAME = re.compile(
    r"passw|passphrase|secret|(?:^|_)(?:(?:api)?key|token|pass|pat|credentials?)(?:_|\d*$)",
    re.IGNORECASE,
)


def is_reference(text: str) -> bool:
    return text.startswith(SCHEME) or bool(_VARIABLE.search(text))


def secret_name(text: str) -> str | None:
    """NAME of `secret:NAME`."""
    return text.removeprefix(SCHEME) if text.startswith(SCHEME) else None


def variables(text: str) -> list[str]:
    """ENV of every `${ENV}`."""
    return _VARIABLE.findall(text)


def fill(text: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: values[found[1]], text)


def keeps_secret(path: KeyPath) -> bool:
    """Whether a setting of this name is expected to hold a secret."""
    words = [part for part in path if isinstance(part, str)]
    return bool(words) and bool(_SECRET_KEY.search(words[-1]))


def names_secret(name: str) -> bool:
    """Whether an environment variable of this name is expected to hold a secret."""
    return bool(_SECRET_NAME.search(name))


def references(value: Any) -> Iterator[tuple[KeyPath, str]]:
    """Path and text of every reference inside settings."""
    return ((where, text) for where, text in texts(value) if is_reference(text))
