"""The agent asks, a person answers, and the answer is the result of the call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.dying import log_of, prepare
from tests.agent.kit import call, calls, results, world
from wakeful.config import Approvals
from wakeful.errors import Refused
from wakeful.events import Parked


def say(messages: Sequence[BaseMessage]) -> AIMessage:
    done = results(messages)
    if done:
        return AIMessage(" / ".join(done[id] for id in sorted(done)))
    return calls(
        call("ask_human", "a", question="Which?", options=["red", "blue"]),
        call("refund", "b", order="A-1"),
    )


@pytest.mark.parametrize(
    ("answer", "told"), [("blue", "blue"), ("2", "blue"), ("7", "7"), ("green", "green")]
)
async def test_an_answer_is_words_or_the_number_of_an_option(
    tmp_path: Path, answer: str, told: str
) -> None:
    async with world(prepare(tmp_path), say) as w:
        question, approval = (await w.turn("go")).waits
        assert (question.kind, question.title, question.allowed) == (
            "question",
            "Which?",
            ("answer", "reject"),
        )
        assert question.args == {"question": "Which?", "options": ["red", "blue"]}
        await w.decide(question.id, "answer", digest=question.digest, text=answer)
        assert [wait.id for wait in (await w.work()).waits] == [approval.id]
        await w.decide(approval.id, "approve", digest=approval.digest)
        done = await w.work()
        assert done.replies[0].text == f"console:operator: {told} / refunded A-1"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("restart", [False, True])
async def test_several_are_answered_in_any_order_before_and_after_a_restart(
    tmp_path: Path, order: tuple[int, int], restart: bool
) -> None:
    folder = prepare(tmp_path)
    ends: list[dict[str, Any]] = [{"verdict": "answer", "text": "red"}, {"verdict": "approve"}]
    found: Any = None
    async with world(folder, say) as w:
        waits = (await w.turn("go")).waits
        if not restart:
            for number in order:
                await w.decide(waits[number].id, digest=waits[number].digest, **ends[number])
    for number in order if restart else ():
        async with world(folder, say) as w:
            await w.decide(waits[number].id, digest=waits[number].digest, **ends[number])
            found = await w.work()
    if not restart:
        async with world(folder, say) as w:
            found = await w.work()
    assert found.replies[0].text == "console:operator: red / refunded A-1"
    assert log_of(folder) == ["refund A-1"]


async def test_an_empty_answer_is_refused_and_the_question_stays(tmp_path: Path) -> None:
    async with world(prepare(tmp_path), say) as w:
        question, _ = (await w.turn("go")).waits
        for verdict, says in (("answer", "needs a text"), ("approve", "answer or reject")):
            with pytest.raises(Refused, match=says):
                await w.decide(question.id, verdict, digest=question.digest, text=" ")
        assert len(await w.store.view.waits()) == 2


@pytest.mark.parametrize(("how", "told"), [("reject", "does not want to"), ("expire", "in time")])
async def test_no_answer_is_told(tmp_path: Path, how: str, told: str) -> None:
    async with world(prepare(tmp_path), say) as w:
        question, approval = (await w.turn("go")).waits
        if how == "expire":
            w.clock.time += 8 * 86_400_000
            w.store.wake_work()
        else:
            await w.decide(question.id, "reject", digest=question.digest, reason="busy")
            await w.decide(approval.id, "reject", digest=approval.digest)
        assert told in (await w.work()).replies[0].text


async def test_killed_between_an_approval_and_a_question_of_one_call_the_question_asks(
    tmp_path: Path,
) -> None:
    folder, settings = prepare(tmp_path), Approvals(tools={"ask_human": "always"})  # type: ignore[dict-item]
    async with world(folder, say, approvals=settings) as w:
        waits = {wait.tool: wait for wait in (await w.turn("go")).waits}
        assert {wait.kind for wait in waits.values()} == {"approval"}
        for wait in waits.values():
            await w.decide(wait.id, "approve", digest=wait.digest)
        assert isinstance(await w.run(await w.claim()), Parked)  # and it is killed before the park
    async with world(folder, say, approvals=settings) as w:
        (question,) = (await w.work()).waits
        assert (question.kind, question.title) == ("question", "Which?")
        assert question.id not in {wait.id for wait in waits.values()}
    async with world(folder, say, approvals=settings) as w:
        await w.decide(question.id, "answer", digest=question.digest, text="red")
        done = await w.work()
        assert done.replies[0].text == "console:operator: red / refunded A-1"
    assert log_of(folder) == ["refund A-1"]
