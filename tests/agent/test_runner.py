"""Runs on a real store: an answer, a tool, a sub-agent, an approval, what is streamed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from tests.agent.kit import call, calls, heard, results, world
from wakeful.events import Done, Parked, Update

TOOLS = '''
from wakeful.tool import Call, tool

@tool(effect="once")
async def charge(call: Call, order: str, amount: int) -> str:
    """Charge a customer.

    Args:
        order: the order's number.
        amount: how much.
    """
    with open("{log}", "a") as log:
        log.write(f"charge {{order}} {{amount}} {{call.principal}} {{call.idempotency_key}}\\n")
    return f"charged {{order}}"

@tool(effect="once", approve="always")
async def refund(call: Call, order: str, amount: int) -> str:
    """Give money back.

    Args:
        order: the order's number.
        amount: how much.
    """
    with open("{log}", "a") as log:
        log.write(f"refund {{order}} {{amount}}\\n")
    return f"refunded {{order}} {{amount}}"

@tool(effect="read")
def broken(call: Call) -> str:
    """Always fails."""
    raise RuntimeError("no such luck")
'''


def folder_with_tools(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "AGENTS.md").write_text("You are the shop's assistant.")
    (tmp_path / "tools" / "shop.py").write_text(TOOLS.format(log=tmp_path / "log"))
    return tmp_path


def log_of(folder: Path) -> list[str]:
    path = folder / "log"
    return path.read_text().splitlines() if path.exists() else []


async def test_a_message_is_answered_and_its_thread_goes_on(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage(f"{len([m for m in messages if not isinstance(m, SystemMessage)])}")

    async with world(tmp_path, say) as w:
        first = await w.turn("hello")
        assert isinstance(first, Done)
        assert [r.text for r in first.replies] == ["1"]
        assert first.replies[0].ordinal == "final/console:a/0"
        assert (await w.turn("again")).replies[0].text == "3"
        assert (await w.turn("other", thread="console/b")).replies[0].text == "1"


async def test_a_tool_call_and_a_sub_agent(tmp_path: Path) -> None:
    folder = folder_with_tools(tmp_path)
    (folder / "subagents").mkdir()
    (folder / "subagents" / "clerk.md").write_text(
        "---\ndescription: looks things up\ntools: [charge]\n---\nYou are the clerk."
    )

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        if messages[0].text.startswith("You are the clerk."):
            return (
                AIMessage("the clerk charged")
                if done
                else calls(call("charge", "c1", order="A-1", amount=3))
            )
        if not done:
            return calls(call("task", "t1", description="charge A-1", subagent_type="clerk"))
        return AIMessage(f"clerk said: {done['t1']}")

    async with world(folder, say) as w:
        done = await w.turn("charge it")
        assert done.replies[0].text == "clerk said: the clerk charged"
        assert len(log_of(folder)) == 1
        assert log_of(folder)[0].startswith("charge A-1 3 console:operator ")
        kinds = [(step.kind, step.agent, step.name) for step in done.steps]
        assert ("tool", "clerk", "charge") in kinds
        assert ("agent", "main", "clerk") in kinds
        assert await w.effects() == [("charge", "done")]


async def test_an_error_of_a_tool_is_a_result(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        return AIMessage(done["b1"]) if done else calls(call("broken", "b1"))

    async with world(folder_with_tools(tmp_path), say) as w:
        done = await w.turn("try")
        assert done.replies[0].text == "broken failed: RuntimeError: no such luck"
        assert not next(step for step in done.steps if step.name == "broken").ok


@pytest.mark.parametrize(
    ("verdict", "more", "said", "ran"),
    [
        ("approve", {}, "refunded A-1 9", ["refund A-1 9"]),
        ("edit", {"args": {"order": "A-1", "amount": 2}}, "refunded A-1 2", ["refund A-1 2"]),
        (
            "reject",
            {"reason": "too much"},
            "Rejected by console:operator: too much. It was not run",
            [],
        ),
    ],
)
async def test_an_approval_waits_and_is_obeyed(
    tmp_path: Path, verdict: str, more: dict[str, Any], said: str, ran: list[str]
) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        return AIMessage(done["r1"]) if done else calls(call("refund", "r1", order="A-1", amount=9))

    folder = folder_with_tools(tmp_path)
    async with world(folder, say) as w:
        parked = await w.turn("refund it")
        assert isinstance(parked, Parked)
        (wait,) = parked.waits
        assert (wait.tool, dict(wait.args)) == ("refund", {"order": "A-1", "amount": 9})
        assert wait.schema["required"] == ["order", "amount"]
        assert log_of(folder) == []
        await w.decide(wait.id, verdict, digest=wait.digest, **more)
        done = await w.work()
        assert said in done.replies[0].text
        assert log_of(folder) == ran
        assert done.applied == (wait.id,)


async def test_what_is_streamed_is_the_main_agents_text_alone(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        if heard(messages) == "look it up":
            return AIMessage("a sub-agent's secret")
        if not results(messages):
            return calls(
                call("task", "t1", description="look it up", subagent_type="general-purpose")
            )
        return AIMessage("all is well")

    seen: list[Update] = []
    async with world(tmp_path, say) as w:
        await w.accept("go")
        done = await w.work(emit=seen.append)
        assert done.replies[0].text.strip() == "all is well"
    assert "".join(u.text for u in seen if u.kind == "text").strip() == "all is well"
    assert [(u.kind, u.text, u.call_id) for u in seen if u.kind != "text"] == [
        ("agent", "general-purpose", "t1"),
        ("agent-end", "general-purpose", "t1"),
    ]
