"""Take secrets out of text, as a pure function: known values, and what looks like a token."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import quote

MARK = "[redacted]"
SHORTEST = 4  # characters; a shorter secret cannot be told from ordinary text
SHORTEST_HIDDEN = 6  # the same for what people and the model read, where a word lost is a loss

# Token shapes that their makers publish, each long enough not to meet ordinary words.
_SHAPES = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\bsk-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic and those who copy them
    r"\b[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}",  # Stripe
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[a-z](?:-[A-Za-z0-9]+){2,}",
    r"\bxapp-[A-Za-z0-9-]{16,}",
    r"\bwhsec_[A-Za-z0-9+/=]{16,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bya29\.[A-Za-z0-9_-]{16,}",
    r"\bhf_[A-Za-z0-9]{20,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{40,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # a signed JWT
)
# What stays in front of the secret, so that a reader sees what it was.
_LABELLED = (
    r"\b(?:bearer|basic)\s+(?P<a>[A-Za-z0-9._~+/=-]{16,})",
    r"://[^\s/:@]*:(?P<b>[^\s/@]+)@",
)
_SHAPE = re.compile("|".join(_SHAPES), re.DOTALL)
_LABEL = re.compile("|".join(_LABELLED), re.IGNORECASE)


def redact(text: str, known: Iterable[str] = ()) -> str:
    """The text without known secrets, in any of their usual spellings, and without tokens."""
    values = frozenset(value for value in known if len(value) >= SHORTEST)
    if values:
        text = _known(values).sub(MARK, text)
    return _LABEL.sub(_keep_label, _SHAPE.sub(MARK, text))


def hide(text: str, known: Iterable[str]) -> str:
    """The text without known secrets; what merely looks like a token may be meant, and stays."""
    if len(text) < SHORTEST_HIDDEN:
        return text
    wanted, pattern = _wanted(frozenset(known))
    for each in wanted:
        if each in text:
            return pattern.sub(MARK, text)
    return text


def everywhere(value: Any, clean: Callable[[str], str]) -> Any:
    """The value with every text in it cleaned; itself when there was nothing to clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        new: Any = {everywhere(k, clean): everywhere(v, clean) for k, v in value.items()}
        return new if new != value else value
    if isinstance(value, list | tuple):
        new = type(value)(everywhere(each, clean) for each in value)
        return new if new != value else value
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value)}
        new = {name: everywhere(each, clean) for name, each in old.items()}
        return replace(value, **new) if new != old else value
    return value


def looks_secret(text: str) -> bool:
    """Whether a text has the shape of a token that somebody would be sorry to lose."""
    return bool(_SHAPE.search(text) or _LABEL.search(text))


@lru_cache(maxsize=32)
def _known(values: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(each) for each in _all_spellings(values)))


@lru_cache(maxsize=32)
def _wanted(known: frozenset[str]) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """What to look for, and how to take it out: looking for some words is far cheaper."""
    values = frozenset(value for value in known if len(value) >= SHORTEST_HIDDEN)
    wanted: list[str] = []
    for each in reversed(_all_spellings(values)):  # the shortest first
        if not any(other in each for other in wanted):
            wanted.append(each)
    return tuple(wanted), _known(values)


def _all_spellings(values: frozenset[str]) -> list[str]:
    spellings = {spelling for value in values for spelling in _spellings(value)}
    return sorted(spellings, key=lambda each: (-len(each), each))


def _spellings(value: str) -> set[str]:
    """A secret as it may stand in logs: plain, in JSON, in a URL, in base64."""
    encoded = base64.b64encode(value.encode()).decode()
    found = {
        value,
        value.strip(),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(value, safe=""),
        encoded,
        encoded.rstrip("="),
        encoded.translate(str.maketrans("+/", "-_")).rstrip("="),
    }
    return {each for each in found if len(each) >= SHORTEST}


def _keep_label(found: re.Match[str]) -> str:
    group = "a" if found["a"] is not None else "b"
    start, end = found.span(group)
    whole = found.group()
    return whole[: start - found.start()] + MARK + whole[end - found.start() :]
