"""What an exception of a model means for the event that was being worked on."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest
from langchain_core.messages import AIMessage

from wakeful.agent.failures import BrokenOff, Endless, explain, flaw, parse_retry_after
from wakeful.errors import RetryLater, SecretMissing

NOW = datetime(2027, 3, 14, 6, 30, tzinfo=UTC)


class Refusal(Exception):
    """An error as SDKs raise them: with a status, and with the response."""

    def __init__(self, status: int, text: str = "", **headers: str) -> None:
        super().__init__(text)
        self.status_code = status
        renamed = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = httpx.Response(status, headers=renamed)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Sun, 14 Mar 2027 06:32:00 GMT"}, 120.0),
        ({"retry-after": "Sun, 14 Mar 2027 06:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 14 Mar 2087 06:00:00 GMT"}, 86_400.0),
        ({"retry-after": "99999999999"}, 86_400.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_P20_retry_after_is_read_in_all_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert parse_retry_after(httpx.Headers(headers), now=NOW) == seconds


@pytest.mark.parametrize(
    ("error", "outage", "final"),
    [
        (Refusal(429, retry_after="120"), True, False),
        (Refusal(429, "You exceeded insufficient_quota"), False, True),
        (Refusal(500), True, False),
        (Refusal(529, "overloaded"), True, False),
        (Refusal(401), False, True),
        (Refusal(408), False, False),
        (Refusal(400, "no such parameter"), False, True),
        (Refusal(400, "the request exceeds the available context size"), False, True),
        (httpx.ConnectError("refused"), True, False),
        (httpx.ReadTimeout("slow"), False, False),
        (ConnectionResetError("reset"), True, False),
        (TimeoutError(), False, False),
        (RetryLater("later", 3.0), True, False),
        (SecretMissing("openai is missing"), False, True),
        (BrokenOff("hung up"), False, False),
        (Endless("ran on"), False, True),
        (ValueError("what?"), False, False),
        (ExceptionGroup("two", [ValueError("x"), Refusal(503)]), True, False),
    ],
)
def test_failures_are_sorted(error: Exception, outage: bool, final: bool) -> None:
    failed = explain(error)
    assert (failed.outage, failed.final) == (outage, final)


def test_P20_what_the_provider_asked_for_reaches_the_worker() -> None:
    assert explain(Refusal(429, retry_after="120")).retry_after == 120.0
    assert explain(RetryLater("later", 3.0)).retry_after == 3.0
    assert explain(Refusal(429)).retry_after is None


def test_the_cause_is_found_behind_a_wrapper() -> None:
    try:
        try:
            raise Refusal(401, "no")
        except Refusal as error:
            raise RuntimeError("the run failed") from error
    except RuntimeError as wrapped:
        assert "api_key" in explain(wrapped).error


def test_no_key_stands_in_a_failure_s_words() -> None:
    failed = explain(Refusal(401, "Incorrect API key: sk-abcdefghijklmnopqrstuvwx"))
    assert "sk-abc" not in failed.error
    assert len(explain(ValueError("x" * 5_000)).error) < 500


def test_an_error_that_nobody_knows_is_named() -> None:
    assert "ValueError: what?" in explain(ValueError("what?")).error


@pytest.mark.parametrize(
    ("message", "word"),
    [
        (AIMessage("half", response_metadata={"finish_reason": "length"}), "cut off"),
        (AIMessage("half", response_metadata={"stop_reason": "max_tokens"}), "cut off"),
        (AIMessage("", response_metadata={"stop_reason": "refusal"}), "withheld"),
        (AIMessage("  "), "empty"),
        (
            AIMessage(
                "",
                invalid_tool_calls=[{"name": "a", "args": "{", "id": "1", "error": "cut"}],
            ),
            "could not be read",
        ),
    ],
)
def test_a_flawed_answer_is_told_from_a_whole_one(message: AIMessage, word: str) -> None:
    assert word in (flaw(message) or "")


def test_a_whole_answer_has_no_flaw() -> None:
    assert flaw(AIMessage("yes", response_metadata={"finish_reason": "stop"})) is None
    assert flaw(AIMessage("", tool_calls=[{"name": "a", "args": {}, "id": "1"}])) is None
