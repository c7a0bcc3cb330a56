"""How runs end: silence, notices, limits, outages, a lease that is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from tests.agent.dying import log_of, prepare
from tests.agent.dying import say as shop
from tests.agent.kit import call, calls, heard, results, state_of, world
from wakeful.errors import LeaseLost
from wakeful.events import Failed, Lease

NO_REPLY = '''
from wakeful.tool import tool

@tool(effect="read")
def no_reply(reason: str) -> str:
    """Stay silent.

    Args:
        reason: why.
    """
    return reason
'''


def echo(messages: Sequence[BaseMessage]) -> AIMessage:
    return AIMessage(f"you said {heard(messages)}")


async def test_a_chosen_silence_is_recorded_and_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "no_reply.py").write_text(NO_REPLY)

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        return calls(call("no_reply", "n1", reason="not for me"), text="I keep out of this.")

    async with world(tmp_path, say) as w:
        done = await w.turn("two people talk")
        assert (done.replies, done.silent) == ((), "not for me")
        assert len(w.model.asked) == 1
        assert [m.role for m in done.messages] == ["tool"]


async def test_steps_run_out_with_a_notice(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        return calls(call("ls", f"l{len(messages)}", path="/"))

    async with world(tmp_path, say, limits={"steps": 6}) as w:
        done = await w.turn("for ever")
        assert done.replies[0].kind == "notice"
        assert "6 steps" in done.replies[0].text
        assert len(w.model.asked) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (AIMessage("half of it", response_metadata={"finish_reason": "length"}), "cut off"),
        (AIMessage("", response_metadata={"finish_reason": "stop"}), "empty answer"),
    ],
)
async def test_an_answer_that_is_none_becomes_a_notice(
    tmp_path: Path, answer: AIMessage, said: str
) -> None:
    async with world(tmp_path, lambda _: answer.model_copy()) as w:
        done = await w.turn("hello")
        assert done.replies[0].kind == "notice"
        assert said in done.replies[0].text


async def test_a_failing_provider_is_an_outage_and_the_thread_goes_on(tmp_path: Path) -> None:
    down = [True]

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        if down[0]:
            raise ConnectionError("refused")
        return echo(messages)

    async with world(tmp_path, say) as w:
        failed = await w.turn("hello")
        assert isinstance(failed, Failed) and failed.outage
        down[0] = False
        done = await w.work()
        assert done.replies[0].text == "you said hello"
        assert len([m for m in await state_of(w) if isinstance(m, HumanMessage)]) == 1


async def test_one_message_with_more_calls_than_steps_runs_those_that_fit(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        if done := results(messages):
            return AIMessage(" / ".join(done.values()))
        return calls(*(call("charge", f"c{n}", order=f"A-{n}") for n in range(9)))

    folder = prepare(tmp_path)
    async with world(folder, say, limits={"steps": 6}) as w:
        done = await w.turn("many")
        assert done.replies[0].kind == "notice" and "6 steps" in done.replies[0].text
        assert len(await w.effects()) == len(log_of(folder)) == 5
        refused = [m.text for m in await state_of(w) if isinstance(m, ToolMessage)][5:]
        assert len(refused) == 4 and all("was not run" in text for text in refused)


async def test_past_its_lease_a_run_starts_nothing(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    lease = Lease()

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        lease.until = 0.0
        return calls(call("charge", "c1", order="A-1"))

    async with world(folder, say) as w:
        await w.accept("go")
        with pytest.raises(LeaseLost):
            await w.run(replace(await w.claim(), lease=lease))
        assert len(w.model.asked) == 1 and await w.effects() == [] and log_of(folder) == []


async def test_past_its_lease_a_run_writes_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, echo) as w:
        await w.accept("go")
        claim = await w.claim()
        with pytest.raises(LeaseLost):
            await w.run(replace(claim, lease=Lease(0.0)))
        assert await state_of(w) == []


async def test_a_lost_claim_starts_no_effect(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    async with world(folder, shop) as w:
        await w.accept("charge")
        claim = await w.claim()
        with pytest.raises(LeaseLost):
            await w.run(replace(claim, fence=claim.fence - 1))
        assert not (folder / "log").exists()


async def test_a_tool_that_is_not_there_leaves_no_effect(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        return AIMessage(done["x1"]) if done else calls(call("launch", "x1"))

    async with world(tmp_path, say) as w:
        assert "launch is not a valid tool" in (await w.turn("go")).replies[0].text
        assert await w.effects() == []
