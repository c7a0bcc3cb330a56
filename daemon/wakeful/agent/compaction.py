"""Threads stay small: what was summarised leaves the state, one checkpoint replaces many."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite, StateSnapshot

from wakeful.agent.current import Run
from wakeful.agent.saver import Saver
from wakeful.errors import LeaseLost, StoreBroken

log = logging.getLogger(__name__)

COMPACT_EVERY = 16  # finished events of a thread
ROWS_PER_EVENT = 3  # checkpoints, at least
COUNTED_THREADS = 10_000
EVENT = "_summarization_event"
LAST_NODE = "model"  # an update in its name leaves nothing to do


class Threads:
    """Compacts the threads of one graph, while whoever asks holds them."""

    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any], saver: Saver) -> None:
        self._graph, self._saver = graph, saver
        self._events: OrderedDict[str, int] = OrderedDict()  # finished since the last compaction

    async def finished(self, run: Run, config: RunnableConfig) -> None:
        """One more event of this thread ended; compact it now and then."""
        thread, fence = run.claim.graph_id, run.claim.fence
        count = self._events.pop(thread, 0) + 1
        if run.cold:  # what earlier processes left counts too
            count += await self._saver.rows(thread) // ROWS_PER_EVENT
        if count >= COMPACT_EVERY and await self._compacted(thread, config):
            snapshot = await self._graph.aget_state(config)
            self._saver.settle(thread, fence, snapshot.values.get("messages", []))
            count = 0
        self._events[thread] = count
        while len(self._events) > COUNTED_THREADS:
            self._events.popitem(last=False)

    async def compact(self, thread: str) -> bool:
        """Shrink a thread that nobody works on; False when it cannot be."""
        self._saver.cool(thread)
        config: RunnableConfig = {"configurable": {"thread_id": thread}}
        found = await self._saver.aget_tuple(config)
        if found is None:
            return False
        marks = {k: v for k, v in found.metadata.items() if k in ("event_seq", "fence")}
        done = await self._compacted(thread, {**config, "metadata": marks})
        self._saver.cool(thread)
        return done

    async def _compacted(self, thread: str, config: RunnableConfig) -> bool:
        """A thread that cannot be compacted stays as it is: it has been answered already."""
        try:
            return await compact(self._graph, self._saver, config)
        except (LeaseLost, StoreBroken):
            raise
        except Exception:
            self._saver.cool(thread)
            log.exception("Thread %s was not compacted.", thread, extra={"action": "compact"})
            return False


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
