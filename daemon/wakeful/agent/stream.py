"""A run for those who watch: the main agent's text as it comes; sub-agents' never leaves them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl

from wakeful.agent.current import Run
from wakeful.events import Update

NODE = "model"


async def stream(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    run: Run,
    given: Any,
    config: RunnableConfig,
    control: RunControl | None,
) -> Mapping[str, Any]:
    """Run the graph and tell each piece of text; returns the last state, as `ainvoke` does."""
    values: dict[str, Any] = {}
    interrupts: list[Any] = []
    parts: AsyncIterator[Any] = graph.astream(
        given, config, stream_mode=["messages", "values"], durability="sync", control=control
    )
    async for mode, chunk in parts:
        if mode == "messages":
            _tell(run, *chunk)
        elif "__interrupt__" in chunk:
            interrupts.extend(chunk["__interrupt__"])
        else:
            values = chunk
    return values | {"__interrupt__": interrupts} if interrupts else values


def _tell(run: Run, message: Any, metadata: Mapping[str, Any]) -> None:
    if not isinstance(message, AIMessageChunk) or metadata.get("langgraph_node") != NODE:
        return
    if "|" in str(metadata.get("checkpoint_ns", "")) or not message.text:
        return
    run.tell(Update(kind="text", event_seq=run.claim.seq, text=run.hide(message.text)))
