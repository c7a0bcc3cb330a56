"""A long thread gets a summary that is whole, or goes on without one; it never gets stuck."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from langchain_core.exceptions import ContextOverflowError, ModelRateLimitError
from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.kit import World, heard, world
from wakeful.agent import summary
from wakeful.events import Done, Failed

TURNS = summary.MOST_MESSAGES // 2 + 1  # the turn that begins with a summary

Summarise = Callable[[], AIMessage]


def speaking(summarise: Summarise) -> Callable[[Sequence[BaseMessage]], AIMessage]:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        if is_summary(messages):
            return summarise()
        return AIMessage(f"you said {heard(messages)}")

    return say


def is_summary(messages: Sequence[BaseMessage]) -> bool:
    return len(messages) == 1


async def grown(w: World) -> Done | Failed:
    """The outcome of the turn that needs a summary."""
    for n in range(TURNS - 1):
        await w.turn(f"message {n}")
    outcome = await w.turn("the long one")
    assert isinstance(outcome, Done | Failed)
    return outcome


def shown(w: World) -> str:
    """What the model was shown in place of the old messages."""
    return next(m.text for m in w.model.asked[-1] if m.type == "human")


async def test_a_whole_summary_is_used(tmp_path: Path) -> None:
    asked: list[int] = []

    def good() -> AIMessage:
        asked.append(1)
        return AIMessage("they counted")

    async with world(tmp_path, speaking(good)) as w:
        outcome = await grown(w)
        assert isinstance(outcome, Done) and "they counted" in shown(w)
        assert len(asked) == 1
        assert [s.ok for s in outcome.steps if s.agent == "summary"] == [True]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (AIMessage("they cou", response_metadata={"finish_reason": "length"}), "cut off"),
        (AIMessage(""), "empty answer"),
        (AIMessage("x" * 400_000), "too long itself"),
        (ContextOverflowError("too many tokens"), "too long for the model"),
        (ValueError("nonsense"), "the model failed"),
    ],
    ids=["cut off", "nothing", "too long", "overflow", "error"],
)
async def test_M1_M10_no_bad_summary_is_kept_and_the_thread_goes_on(
    tmp_path: Path, bad: AIMessage | Exception, why: str
) -> None:
    asked: list[int] = []

    def worthless() -> AIMessage:
        asked.append(1)
        if isinstance(bad, Exception):
            raise bad
        return bad

    async with world(tmp_path, speaking(worthless)) as w:
        outcome = await grown(w)
        assert isinstance(outcome, Done) and outcome.replies[0].text == "you said the long one"
        assert len(asked) == summary.TRIES
        assert why in shown(w) and "they cou" not in shown(w)
        assert "/.overflow/" in shown(w)  # where the history can be read
        again = await w.turn("and on")
        assert isinstance(again, Done) and len(asked) == summary.TRIES


async def test_the_second_try_may_do_it(tmp_path: Path) -> None:
    answers = [AIMessage(""), AIMessage("they counted")]
    async with world(tmp_path, speaking(lambda: answers.pop(0))) as w:
        outcome = await grown(w)
        assert isinstance(outcome, Done) and "they counted" in shown(w)
        assert [s.ok for s in outcome.steps if s.agent == "summary"] == [False, True]


async def test_a_provider_that_is_down_is_not_the_summarys_fault(tmp_path: Path) -> None:
    def down() -> AIMessage:
        raise ModelRateLimitError("not now")

    async with world(tmp_path, speaking(down)) as w:
        outcome = await grown(w)
        assert isinstance(outcome, Failed) and outcome.outage


async def test_a_summary_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "PATIENCE", 0.01)
    async with world(tmp_path, speaking(lambda: AIMessage("never"))) as w:
        plain = type(w.model)._agenerate

        async def hanging(
            self: object, messages: list[BaseMessage], *a: object, **k: object
        ) -> object:
            if is_summary(messages):
                await asyncio.Event().wait()
            return await plain(self, messages, *a, **k)  # type: ignore[arg-type]

        monkeypatch.setattr(type(w.model), "_agenerate", hanging)
        outcome = await grown(w)
        assert isinstance(outcome, Done) and "TimeoutError" in shown(w)
