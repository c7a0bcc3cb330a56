"""A model that reuses ids of calls or of messages: every call is one of its own nevertheless."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from tests.agent.dying import log_of, prepare
from tests.agent.kit import call, calls, heard, turn, world


def told(messages: Sequence[BaseMessage]) -> str:
    found = [m.text for m in turn(messages) if isinstance(m, ToolMessage)]
    return " and ".join(found)


@pytest.mark.parametrize("id", ["same", ""])
@pytest.mark.parametrize("live", [False, True])
async def test_calls_of_one_message_that_share_an_id_run_each(
    tmp_path: Path, id: str, live: bool
) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        if said := told(messages):
            return AIMessage(said)
        return calls(call("charge", id, order="A-1"), call("charge", id, order="A-2"))

    folder = prepare(tmp_path)
    async with world(folder, say) as w:
        await w.accept("go")
        done = await w.work(emit=(lambda update: None) if live else None)
        assert done.replies[0].text.strip() == "charged A-1 and charged A-2"
        assert await w.effects() == [("charge", "done")] * 2
    assert sorted(log_of(folder)) == ["charge A-1", "charge A-2"]


async def test_a_message_with_the_ids_of_an_older_one_is_another_message(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        if said := told(messages):
            return AIMessage(said, id="m2")
        return AIMessage("", id="m1", tool_calls=[call("charge", "c", order=heard(messages))])

    folder = prepare(tmp_path)
    async with world(folder, say) as w:
        assert (await w.turn("A-1")).replies[0].text == "charged A-1"
        assert (await w.turn("A-2")).replies[0].text == "charged A-2"
        assert len({m.id for m in w.model.asked[-1]}) == len(w.model.asked[-1])
    assert log_of(folder) == ["charge A-1", "charge A-2"]


async def test_sub_agents_whose_messages_share_ids_act_each(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        if said := told(messages):
            return AIMessage(said, id="m2")
        order = heard(messages)
        if order != "both":
            return AIMessage("", id="m1", tool_calls=[call("charge", "c", order=order)])
        return calls(
            *(
                call("task", id, description=order, subagent_type="general-purpose")
                for id, order in (("t1", "A-1"), ("t2", "A-2"))
            )
        )

    folder = prepare(tmp_path)
    async with world(folder, say) as w:
        assert (await w.turn("both")).replies[0].text == "charged A-1 and charged A-2"
    assert sorted(log_of(folder)) == ["charge A-1", "charge A-2"]
