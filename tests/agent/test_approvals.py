"""Questions to people: when they are asked, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.dying import log_of, prepare
from tests.agent.dying import say as shop
from tests.agent.kit import call, calls, heard, results, world
from wakeful.events import Parked


async def test_nobody_is_asked_about_arguments_that_do_not_fit(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        return AIMessage(done["r1"]) if done else calls(call("refund", "r1", number="A-1"))

    async with world(prepare(tmp_path), say) as w:
        done = await w.turn("refund it")
        assert "order: Field required" in done.replies[0].text


async def test_a_question_is_asked_while_somebody_watches_too(tmp_path: Path) -> None:
    async with world(prepare(tmp_path), shop) as w:
        await w.accept("refund")
        parked = await w.work(emit=lambda _: None)
        assert isinstance(parked, Parked)
        (wait,) = parked.waits
        await w.decide(wait.id, "approve", digest=wait.digest)
        assert "refunded" in (await w.work(emit=lambda _: None)).replies[0].text


async def test_two_questions_of_one_message_are_answered_one_by_one(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        if not done:
            return calls(call("refund", "r1", order="A"), call("refund", "r2", order="B"))
        return AIMessage(" / ".join(done.values()))

    async with world(prepare(tmp_path), say) as w:
        first, second = (await w.turn("both")).waits
        await w.decide(first.id, "approve", digest=first.digest)
        parked = await w.work()
        assert [wait.id for wait in parked.waits] == [second.id]
        assert parked.applied == (first.id,)
        await w.decide(second.id, "reject", digest=second.digest)
        done = await w.work()
        assert "refunded A" in done.replies[0].text
        assert "Rejected" in done.replies[0].text


async def test_a_wait_whose_gate_was_taken_away_is_told_and_not_run(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    async with world(folder, shop) as w:
        (wait,) = (await w.turn("refund")).waits
        await w.decide(wait.id, "reject", digest=wait.digest)
    tools = folder / "tools" / "shop.py"
    tools.write_text(tools.read_text().replace(', approve="always"', ""))
    async with world(folder, shop) as w:
        done = await w.work()
        assert "outcome is unknown" in done.replies[0].text
        assert not (folder / "log").exists()


async def test_a_gate_holds_in_the_helper_that_every_agent_has(tmp_path: Path) -> None:
    """It has the same middleware as the others, since one function makes all of it."""

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done, task = results(messages), "give it back"
        if heard(messages) == task:
            return AIMessage(done["r1"]) if done else calls(call("refund", "r1", order="A-1"))
        order = call("task", "t1", description=task, subagent_type="general-purpose")
        return AIMessage(done["t1"]) if done else calls(order)

    async with world(prepare(tmp_path), say) as w:
        parked = await w.turn("let somebody refund it")
        assert isinstance(parked, Parked)
        (wait,) = parked.waits
        assert (wait.agent, wait.tool, log_of(tmp_path)) == ("general-purpose", "refund", [])
        await w.decide(wait.id, "approve", digest=wait.digest)
        assert "refunded A-1" in (await w.work()).replies[0].text
        assert log_of(tmp_path) == ["refund A-1"]
