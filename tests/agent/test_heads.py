"""Where threads ended, in memory: bounded, and only for the very next claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from tests.agent.kit import graph_of, heard, world
from wakeful.agent.heads import MESSAGE, Head, Heads


def head(messages: int) -> Head:
    return Head(1, cast(Any, None), [HumanMessage("x")] * messages)


def test_the_oldest_are_dropped_when_there_are_too_many_messages() -> None:
    heads = Heads(limit=10 * (MESSAGE + 1))
    for name in "abc":
        heads.keep(name, head(4))
    assert [heads.get(name) is not None for name in "abc"] == [False, True, True]
    heads.keep("d", head(100))
    assert [heads.get(name) is not None for name in "bcd"] == [False, False, True]
    heads.drop("d")
    heads.keep("e", head(10))
    assert heads.get("e") is not None


def test_P5_large_messages_weigh_more_than_small_ones() -> None:
    heads = Heads(limit=100_000)
    picture = [{"type": "image", "base64": "x" * 90_000}]
    for name in "abc":
        heads.keep(name, head(10))
    heads.keep("d", Head(1, cast(Any, None), [HumanMessage(cast(Any, picture))]))
    assert [name for name in "abcd" if heads.get(name)] == ["d"]


async def test_a_thread_that_somebody_else_had_is_read_from_the_store(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage(f"{heard(messages)} {len(messages)}")

    async with world(tmp_path, say) as w:
        await w.turn("one")
        saver = w.agent._saver
        graph = await graph_of(w)
        assert saver.is_warm(graph, 2)
        await w.accept("two")
        claim = await w.claim()
        stale = replace(claim, fence=claim.fence + 1)  # one claim in between was not ours
        assert not saver.is_warm(graph, stale.fence)
        assert (await w.run(claim)).replies[0].text == "two 4"
