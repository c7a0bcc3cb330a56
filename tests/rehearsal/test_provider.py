"""A provider's double, asked by the real clients, and how our line to a model bears its faults."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import SecretStr

from wakeful.agent.failures import explain, flaw
from wakeful.agent.models import build_model
from wakeful.rehearsal.provider import Provider, provider
from wakeful.rehearsal.reading import parse

SCRIPT = r"""
[[turn]]
when = 'weather in (?P<town>\w+)'
steps = [{ call = "weather", args = { town = "{town}" } }, { say = "In {town}: {result}" }]

[[turn]]
when = 'limit (?P<n>\d+)'
steps = [{ fail = "rate-limit", after = 120 }]

[[turn]]
when = 'date'
steps = [{ fail = "rate-limit", after = 120, as_date = true }]

[[turn]]
when = 'none'
steps = [{ fail = "rate-limit" }]

[[turn]]
when = 'moment'
steps = [{ fail = "rate-limit", after = 1, times = 1 }, { say = "Now." }]

[[turn]]
when = 'outage'
steps = [{ fail = "outage" }]

[[turn]]
when = 'key'
steps = [{ fail = "auth" }]

[[turn]]
when = 'long'
steps = [{ fail = "overflow" }]

[[turn]]
when = 'bad'
steps = [{ fail = "bad-request" }]

[[turn]]
when = 'empty'
steps = [{ fail = "empty" }]

[[turn]]
when = 'cut'
steps = [{ fail = "cut-off" }]

[[turn]]
when = 'hangup'
steps = [{ fail = "hang-up", times = 4 }, { say = "Whole." }]

[[turn]]
when = 'endless'
steps = [{ fail = "endless" }]

[[turn]]
when = 'silent'
steps = [{ fail = "hang" }]
"""


@dataclass(frozen=True)
class Settings:
    model: str
    fallbacks: tuple[str, ...] = ()
    model_options: dict[str, Any] = field(default_factory=dict)


@pytest.fixture
async def double() -> AsyncIterator[Provider]:
    async with provider(parse(SCRIPT)) as double:
        yield double


@pytest.fixture(params=["openai:test", "anthropic:test"])
async def model(request: pytest.FixtureRequest, double: Provider) -> BaseChatModel:
    return await make(request.param, double)


async def make(name: str, double: Provider, **options: Any) -> BaseChatModel:
    base = f"{double.url}/v1" if name.startswith("openai") else double.url
    options = {"base_url": base, "api_key": "secret:test", "max_retries": 0, **options}
    return await build_model(Settings(name, (), options), lambda _: SecretStr("k-test"))


@tool
def weather(town: str) -> str:
    """The weather of a town."""
    return "sun"


async def last(model: BaseChatModel, text: str) -> AIMessage:
    """The whole answer of a stream."""
    pieces = [piece async for piece in model.bind_tools([weather]).astream(text)]
    whole: Any = pieces[0]
    for piece in pieces[1:]:
        whole += piece
    assert isinstance(whole, AIMessageChunk)
    return whole


async def test_tools_and_text_go_round(model: BaseChatModel) -> None:
    bound = model.bind_tools([weather])
    said: list[Any] = [HumanMessage("weather in Oslo")]
    asked = await bound.ainvoke(said)
    assert isinstance(asked, AIMessage)
    assert asked.tool_calls[0]["args"] == {"town": "Oslo"}
    call = asked.tool_calls[0]["id"]
    answer = await bound.ainvoke([*said, asked, ToolMessage("sun", tool_call_id=call)])
    assert answer.text == "In Oslo: sun"


async def test_a_stream_brings_pieces_calls_and_usage(model: BaseChatModel) -> None:
    pieces = [piece async for piece in model.astream("hear me out")]
    assert len([piece for piece in pieces if piece.text]) > 5
    whole = await last(model, "weather in Oslo")
    assert whole.tool_calls[0]["args"] == {"town": "Oslo"}
    assert whole.usage_metadata and whole.usage_metadata["output_tokens"] == 7


async def test_openai_is_told_to_store_nothing(double: Provider) -> None:
    await (await make("openai:test", double)).ainvoke("hello")
    assert double.asked[0].body["store"] is False
    assert double.asked[0].headers["authorization"] == "Bearer k-test"


@pytest.mark.parametrize(("prompt", "least", "most"), [("limit 1", 120, 120), ("date", 110, 120)])
async def test_P20_retry_after_is_obeyed_by_every_call_of_a_model(
    model: BaseChatModel, double: Provider, prompt: str, least: float, most: float
) -> None:
    with pytest.raises(Exception) as caught:
        await model.ainvoke(prompt)
    failed = explain(caught.value)
    assert failed.outage and not failed.final
    assert failed.retry_after and least <= failed.retry_after <= most
    with pytest.raises(Exception) as again:  # another thread, another prompt: nothing is sent
        await last(model, "hello")
    assert explain(again.value).outage
    assert (explain(again.value).retry_after or 0) > 100
    assert len(double.asked) == 1


async def test_P20_without_retry_after_our_own_back_off_grows(
    double: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = await make("openai:test", double)
    line, now, rests = model.line, 1000.0, []
    line.boot = lambda: now
    for _ in range(4):
        with pytest.raises(Exception) as caught:
            await model.ainvoke("none")
        assert explain(caught.value).outage
        rests.append(line.rests_until - now)
        now = line.rests_until + 0.001
    assert len(double.asked) == 4
    assert rests[3] > 2 * rests[0]


async def test_P20_a_short_wait_is_waited_out_on_the_line(double: Provider) -> None:
    model = await make("openai:test", double, max_retries=2)
    begin = time.monotonic()
    assert (await last(model, "moment")).text == "Now."
    assert time.monotonic() - begin >= 1.0
    assert len(double.asked) == 2


@pytest.mark.parametrize(
    ("prompt", "outage", "final"),
    [("outage", True, False), ("key", False, True), ("bad", False, True), ("long", False, True)],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_faults_are_sorted_by_what_has_to_happen(
    model: BaseChatModel, prompt: str, outage: bool, final: bool, streamed: bool
) -> None:
    with pytest.raises(Exception) as caught:
        await (last(model, prompt) if streamed else model.ainvoke(prompt))
    failed = explain(caught.value)
    assert (failed.outage, failed.final) == (outage, final)
    assert isinstance(caught.value, ContextOverflowError) == (prompt == "long")


async def test_a_provider_that_is_not_there_is_an_outage(double: Provider) -> None:
    model = await make("openai:test", double, base_url="http://127.0.0.1:1/v1")
    with pytest.raises(Exception) as caught:
        await model.ainvoke("hello")
    assert explain(caught.value).outage


@pytest.mark.parametrize(("prompt", "word"), [("empty", "empty"), ("cut", "cut off")])
async def test_answers_that_are_not_whole_are_noticed(
    model: BaseChatModel, prompt: str, word: str
) -> None:
    for answer in (await last(model, prompt), await model.ainvoke(prompt)):
        assert word in (flaw(answer) or "")
    assert flaw(await last(model, "hello")) is None


async def test_a_stream_that_hangs_up_is_never_taken_for_whole(model: BaseChatModel) -> None:
    with pytest.raises(Exception) as caught:
        await last(model, "hangup")
    failed = explain(caught.value)
    assert "broke off" in failed.error and not failed.final


async def test_an_answer_that_never_arrives_whole_is_stopped(double: Provider) -> None:
    model = await make("openai:test", double, total_timeout=0.5)
    async with asyncio.timeout(10):
        with pytest.raises(Exception) as caught:
            await model.ainvoke("endless")
    assert explain(caught.value).final


async def test_an_endless_stream_is_stopped_by_time_and_by_size(double: Provider) -> None:
    for options in ({"total_timeout": 0.5}, {"max_characters": 2_000}):
        for name in ("openai:test", "anthropic:test"):
            model = await make(name, double, **options)
            async with asyncio.timeout(10):
                with pytest.raises(Exception) as caught:
                    await last(model, "endless")
            failed = explain(caught.value)
            assert failed.final and "did not come to an end" in failed.error


@pytest.mark.parametrize("streamed", [False, True])
async def test_silence_ends_in_a_time_out(double: Provider, streamed: bool) -> None:
    model = await make("openai:test", double, timeout=0.3, total_timeout=0.6)
    async with asyncio.timeout(10):
        with pytest.raises(Exception) as caught:
            await (last(model, "silent") if streamed else model.ainvoke("silent"))
    failed = explain(caught.value)
    assert "too long" in failed.error and not failed.outage and not failed.final


async def test_a_fallback_of_another_provider_answers_with_its_own_words(double: Provider) -> None:
    settings = Settings(
        "openai:test",
        ("anthropic:test", "rehearsal"),
        {
            "base_url": f"{double.url}/v1",
            "api_key": "k",
            "max_retries": 0,
            "anthropic:test": {"base_url": double.url, "api_key": "k"},
        },
    )
    model = await build_model(settings, lambda _: SecretStr("k"))
    double.script = parse(
        "[[turn]]\nwhen = '.'\nsteps = [{ fail = \"outage\", times = 1 },"
        ' { call = "weather", args = { town = "Oslo" } }]'
    )
    answer = await model.bind_tools([weather]).ainvoke("weather?")
    assert isinstance(answer, AIMessage) and answer.tool_calls[0]["name"] == "weather"
    assert [asked.path for asked in double.asked] == ["/v1/chat/completions", "/v1/messages"]
    assert double.asked[1].body["tools"][0]["input_schema"]["properties"]["town"]
    double.script = parse("[[turn]]\nwhen = '.'\nsteps = [{ fail = \"outage\" }]")
    assert "rehearsal model" in (await last(model, "anybody?")).text


def test_retry_after_dates_are_written_as_http_wants_them() -> None:
    double = Provider(parse(SCRIPT), now=lambda: datetime(2027, 3, 14, 6, 30, tzinfo=UTC))
    fail = double.script.turns[2].steps[0].fail
    assert fail is not None
    assert double._retry_after(fail) == {"retry-after": "Sun, 14 Mar 2027 06:32:00 GMT"}
