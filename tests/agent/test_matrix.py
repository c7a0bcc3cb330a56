"""A gated tool never runs unasked and runs once when asked: whoever calls it, whatever woke it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.dying import killed, log_of, prepare
from tests.agent.dying import say as shop
from tests.agent.kit import World, call, calls, heard, results, world
from wakeful.events import Parked, WaitRequest

WEEK = 7 * 86_400_000 + 60_000  # ms

CALLERS = {"main": "refund", "clerk": "clerk refund", "helper": "helper refund"}
SOURCES: dict[str, dict[str, Any]] = {
    "console": {},
    "webhook": {
        "source": "ci",
        "keys": ("ci/1",),
        "principal": "webhook:ci",
        "kind": "delivery",
        "untrusted": True,
        "thread": "webhook/ci/1",
    },
    "schedule": {
        "source": "schedule",
        "keys": ("schedule/nightly@1",),
        "principal": "schedule:nightly",
        "kind": "firing",
        "thread": "schedule/nightly",
    },
}
# verdict: what more the decision says, what the model is told, what ran
ENDS: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "approve": ({}, "refunded A-1", ["refund A-1"]),
    "edit": ({"args": {"order": "B-2"}}, "refunded B-2", ["refund B-2"]),
    "reject": ({"reason": "not today"}, "not today", []),
    "expire": ({}, "Nobody answered in time", []),
}


def say(messages: Sequence[BaseMessage]) -> AIMessage:
    """`refund` beside a sibling that charges; `clerk refund` and `helper refund` hand it on."""
    done, asked = results(messages), heard(messages)
    if done:
        return AIMessage(" / ".join(done.values()))
    for who, agent in (("clerk", "clerk"), ("helper", "general-purpose")):
        if f"{who} refund" in asked:
            task = call("task", "t", description="refund", subagent_type=agent)
            return calls(task, call("charge", "s", order="S-0"))
    return calls(call("refund", "r", order="A-1"), call("charge", "c", order="S-9"))


async def end(w: World, wait: WaitRequest, verdict: str, more: dict[str, Any]) -> None:
    if verdict == "expire":
        w.clock.time += WEEK
        w.store._stir()
    else:
        await w.decide(wait.id, verdict, digest=wait.digest, **more)


@pytest.mark.parametrize("moment", ["before", "after", "between"])
@pytest.mark.parametrize("verdict", ENDS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("caller", CALLERS)
async def test_A1_A2_A7_A11_A13_a_gate_asks_whoever_calls_and_whatever_woke_it(
    tmp_path: Path, caller: str, source: str, verdict: str, moment: str
) -> None:
    """Decided in the same daemon, after a restart, or killed after the decision was obeyed."""
    folder = prepare(tmp_path)
    more, told, ran = ENDS[verdict]
    siblings = ["charge S-9"] if caller == "main" else ["charge S-0", "charge S-9"]
    async with world(folder, say) as w:
        parked = await w.turn(CALLERS[caller], **SOURCES[source])
        assert isinstance(parked, Parked)
        (wait,) = parked.waits
        assert sorted(log_of(folder)) == siblings
        if moment == "before":
            await end(w, wait, verdict, more)
            assert told in said_by(await w.work())
        elif moment == "between":
            await end(w, wait, verdict, more)
            await w.run(await w.claim())  # and nothing of it is committed
    if moment != "before":
        async with world(folder, say) as w:
            w.clock.time += WEEK if verdict == "expire" else 0
            if moment == "after":
                await end(w, wait, verdict, more)
            done = await w.work()
            assert told in said_by(done)
            assert wait.id in done.applied
    assert sorted(log_of(folder)) == sorted(siblings + ran)


def said_by(done: Any) -> str:
    return " ".join(message.text for message in done.messages)


@asynccontextmanager
async def parked(folder: Path, text: str) -> AsyncIterator[tuple[World, WaitRequest]]:
    async with world(folder, shop) as w:
        (wait,) = (await w.turn(text)).waits
        yield w, wait


@pytest.mark.parametrize("text", ["refund", "clerk refund"])
async def test_A2_killed_for_real_after_the_click_it_runs_once(tmp_path: Path, text: str) -> None:
    folder = prepare(tmp_path)
    async with parked(folder, text) as (w, wait):
        await w.decide(wait.id, "approve", digest=wait.digest)
    killed(folder, "", "before-commit")
    async with world(folder, shop) as w:
        assert "refunded A-1" in (await w.work()).replies[0].text
    assert log_of(folder) == ["refund A-1"]
