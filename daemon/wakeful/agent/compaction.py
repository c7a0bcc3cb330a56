"""Threads stay small: what was summarised leaves the state, one checkpoint replaces many."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite, StateSnapshot

from wakeful.agent.saver import Saver

EVENT = "_summarization_event"
LAST_NODE = "model"  # an update in its name leaves nothing to do


async def compact(
    graph: CompiledStateGraph[Any, Any, Any, Any], saver: Saver, config: RunnableConfig
) -> bool:
    """Rewrite a finished thread as one checkpoint; False when it is not finished.

    Only for whoever holds the thread. The metadata in `config` stays with the new head, so that a
    crash right after it finds the event that ended there.
    """
    snapshot = await graph.aget_state(config)
    if snapshot.tasks or snapshot.interrupts or not snapshot.values:
        return False
    written = await graph.aupdate_state(config, _whole(graph, snapshot), as_node=LAST_NODE)
    after = await graph.aget_state(config)
    if after.tasks:
        return False
    where = written["configurable"]
    await saver.keep_head(str(where["thread_id"]), str(where["checkpoint_id"]))
    return True


def _whole(
    graph: CompiledStateGraph[Any, Any, Any, Any], snapshot: StateSnapshot
) -> dict[str, Any]:
    """Every channel that is stored as differences, written out whole."""
    update: dict[str, Any] = {
        name: Overwrite(snapshot.values[name])
        for name, channel in graph.channels.items()
        if isinstance(channel, DeltaChannel) and name in snapshot.values
    }
    event = snapshot.values.get(EVENT)
    if event:
        update["messages"] = Overwrite(shortened(snapshot.values["messages"], event))
        update[EVENT] = None
    return update


def shortened(messages: list[AnyMessage], event: dict[str, Any]) -> list[AnyMessage]:
    """The summary, and what came after it: what the model has seen of the thread all along."""
    return [event["summary_message"], *messages[event["cutoff_index"] :]]
