"""What went wrong with a model, and what the daemon must do about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.messages import AIMessage

from wakeful.agent.hiding import Hide, nothing
from wakeful.errors import FolderFaulty, RetryLater, SecretMissing
from wakeful.events import Failed
from wakeful.redact import redact

Kind = Literal[
    "rate-limit",
    "outage",
    "time-out",
    "broken-off",
    "endless",
    "auth",
    "quota",
    "overflow",
    "bad-request",
    "setup",
    "other",
]
SHOWN = 300  # characters of a provider's own words
FOREVER = 86_400.0  # seconds; no Retry-After is obeyed for longer than a day
OUT_OF_MONEY = ("insufficient_quota", "credit balance is too low", "billing_hard_limit")
TOO_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "context window",
    "context size",
)
ENDED_EARLY = frozenset({"length", "max_tokens", "MAX_TOKENS", "model_length"})
WITHHELD = frozenset({"content_filter", "refusal", "SAFETY", "guardrail_intervened"})

ADVICE: Mapping[Kind, str] = {
    "rate-limit": "the model's provider says that it is asked too often",
    "outage": "the model's provider does not answer",
    "time-out": "the model took too long to answer",
    "broken-off": "the model's answer broke off in the middle",
    "endless": "the model's answer did not come to an end and was stopped",
    "auth": "the model's provider refused the key; correct api_key in [model_options]",
    "quota": "the account at the model's provider has no credit left; add some there",
    "overflow": "the conversation has become too long for the model; begin a new one with /new",
    "bad-request": "the model's provider refused the request",
    "setup": "the model cannot be used as agent.toml names it",
    "other": "the run ended with an error",
}
FINAL: frozenset[Kind] = frozenset({"endless", "auth", "quota", "overflow", "bad-request", "setup"})
EVERYBODY: frozenset[Kind] = frozenset({"rate-limit", "outage"})  # not this event's own fault


class BrokenOff(ModelConnectionError):
    """A stream ended without the model having said that it is done."""


class Endless(ModelTimeoutError):
    """An answer ran past every bound."""


def explain(exc: BaseException, *, now: datetime | None = None, hide: Hide = nothing) -> Failed:
    """Say what an exception means for the event that was being worked on."""
    cause = _telling(exc)
    kind = kind_of(cause)
    words = " ".join(hide(redact(str(cause))).split())[:SHOWN]
    error = f"{ADVICE[kind]} ({words or type(cause).__name__})"
    if kind == "other":
        error = f"{ADVICE[kind]} ({type(cause).__name__}: {words})"
    elif kind == "setup":
        error = words
    return Failed(
        error=error,
        retry_after=retry_after(cause, now=now),
        outage=kind in EVERYBODY,
        final=kind in FINAL,
    )


def kind_of(exc: BaseException) -> Kind:
    """Sort an exception by what has to happen next."""
    text = f"{exc} {getattr(exc, 'code', '')}"  # some providers say it in a code alone
    if any(mark in text for mark in OUT_OF_MONEY):
        return "quota"
    if isinstance(exc, FolderFaulty | SecretMissing):
        return "setup"
    for shape, kind in _SHAPES:
        if isinstance(exc, shape):
            return _overflowed(text) if kind == "bad-request" else kind
    status = getattr(exc, "status_code", None)
    if isinstance(status, int):
        return _by_status(status, text)
    if _from_transport(exc):
        return "time-out" if "Timeout" in type(exc).__name__ else "outage"
    return "other"


def retry_after(exc: BaseException, *, now: datetime | None = None) -> float | None:
    """The seconds that the other side asked to be left alone, if it did."""
    if isinstance(exc, RetryLater):
        return exc.after
    headers = getattr(getattr(exc, "response", None), "headers", None)
    if headers is None:
        return None
    return parse_retry_after(headers, now=now or datetime.now(UTC))


def parse_retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Read Retry-After: milliseconds (two providers send these), seconds, or an HTTP date."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(max(0.0, (until - now).total_seconds()), FOREVER)


def flaw(message: AIMessage) -> str | None:
    """What is wrong with an answer that arrived: cut off, withheld, empty; none if it is whole."""
    ended = {str(message.response_metadata.get(key)) for key in ("finish_reason", "stop_reason")}
    if ended & ENDED_EARLY:
        return "the model's answer was cut off at its length limit"
    if ended & WITHHELD:
        return "the model withheld its answer"
    if message.invalid_tool_calls:
        return "the model's tool call could not be read"
    if not message.tool_calls and not message.text.strip():
        return "the model gave an empty answer"
    return None


_SHAPES: tuple[tuple[type[BaseException], Kind], ...] = (
    (Endless, "endless"),
    (BrokenOff, "broken-off"),
    (RetryLater, "rate-limit"),
    (ModelRateLimitError, "rate-limit"),
    (ModelTimeoutError, "time-out"),
    (TimeoutError, "time-out"),
    (ModelConnectionError, "outage"),
    (ModelAPIError, "outage"),
    (ModelAuthenticationError, "auth"),
    (ModelPermissionDeniedError, "auth"),
    (ContextOverflowError, "overflow"),
    (ModelNotFoundError, "bad-request"),
    (ModelInvalidRequestError, "bad-request"),
)


def _by_status(status: int, text: str) -> Kind:
    if status == 429:
        return "rate-limit"
    if status in (401, 403):
        return "auth"
    if status == 408:
        return "time-out"
    return "outage" if status >= 500 else _overflowed(text)


def _overflowed(text: str) -> Kind:
    return "overflow" if any(mark in text for mark in TOO_LONG) else "bad-request"


def _from_transport(exc: BaseException) -> bool:
    """Some integrations let the HTTP library's own errors through; there are two such libraries."""
    return isinstance(exc, ConnectionError) or any(
        base.__name__ == "TransportError" and base.__module__.startswith("httpx")
        for base in type(exc).__mro__
    )


def _telling(exc: BaseException) -> BaseException:
    """The exception that says most: of a group or a chain, the first whose kind is known."""
    return next((each for each in _family(exc) if kind_of(each) != "other"), exc)


def _family(exc: BaseException) -> Iterator[BaseException]:
    yield exc
    if isinstance(exc, BaseExceptionGroup):
        for member in exc.exceptions:
            yield from _family(member)
    if exc.__cause__ is not None:
        yield from _family(exc.__cause__)


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return min(max(0.0, seconds), FOREVER) if math.isfinite(seconds) else None
