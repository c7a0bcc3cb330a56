"""Threads stay small, and stay readable."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import aiosqlite
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from tests.agent.kit import graph_of, heard, state_of, world


def echo(messages: Sequence[BaseMessage]) -> AIMessage:
    return AIMessage(f"you said {heard(messages)}")


async def test_compaction_leaves_one_checkpoint_that_the_stock_saver_can_read(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, echo) as w:
        for n in range(20):
            await w.turn(f"message {n}")
        graph = await graph_of(w)
        before = await state_of(w)
        assert await w.agent.compact(graph)
        assert [m.text for m in await state_of(w)] == [m.text for m in before]
        assert len(before) == 40
        assert (await w.turn("after")).replies[0].text == "you said after"
        assert await w.agent.compact(graph)
    async with aiosqlite.connect(tmp_path / ".wakeful" / "state.db") as connection:
        saver = AsyncSqliteSaver(connection)
        found = [c async for c in saver.alist({"configurable": {"thread_id": graph}})]
        assert len(found) == 1
        assert dict(found[0].metadata)["event_seq"] == 21


async def test_P5_a_long_thread_costs_no_more_than_a_short_one(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage("noted" if len(messages) < 300 else "a summary")

    sizes, counts = [], []
    async with world(tmp_path, say) as w:
        for n in range(400):
            await w.turn(f"message {n}")
            if n in (150, 399):
                counts.append(len(await state_of(w)))
                sizes.append(await w.store.db.run(_bytes, durable=False))
    assert counts[1] <= counts[0] * 1.5
    assert sizes[1] <= sizes[0] * 1.5


def _bytes(session: object) -> int:
    query = """
    SELECT (SELECT total(length(checkpoint)) FROM checkpoints)
         + (SELECT total(length(value)) FROM writes)
    """
    return int(session.raw.execute(query).fetchone()[0])  # type: ignore[attr-defined]
