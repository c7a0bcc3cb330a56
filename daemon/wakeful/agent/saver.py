"""The checkpointer: LangGraph's SQLite saver, on the store's database thread.

It shares the engine's group commit, refuses to write for a run whose lease is over, and remembers
where a thread ended, so that the next event of a busy thread starts without reading anything.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.base import Checkpoint as State
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from wakeful.agent.current import run_
from wakeful.agent.heads import Head, Heads
from wakeful.store import checkpoints as table
from wakeful.store.query import Session

MESSAGES = "messages"


class Database(Protocol):
    async def run(self, work: Callable[[Session], Any], /, *, durable: bool = True) -> Any: ...


class Saver(AsyncSqliteSaver):
    """AsyncSqliteSaver without a connection: every statement goes through the store."""

    def __init__(self, database: Database) -> None:
        super().__init__(cast(Any, None))
        self._database = database
        self._last: dict[str, CheckpointTuple] = {}  # newest checkpoint of the threads that run now
        self._heads = Heads()
        self.is_setup = True

    async def setup(self) -> None:
        """The tables are part of the store's schema."""

    def settle(self, thread_id: str, fence: int, messages: list[BaseMessage]) -> None:
        """Remember the end of a run, for the next event of this thread."""
        last = self._last.pop(thread_id, None)
        self._heads.drop(thread_id)
        if last is not None:
            self._heads.keep(thread_id, Head(fence, last, messages))

    def is_warm(self, thread_id: str, fence: int) -> bool:
        """True when the claim before this one finished here: nobody else had the thread since."""
        head = self._heads.get(thread_id)
        if head is not None and head.fence + 1 == fence:
            return True
        self.cool(thread_id)
        return False

    def cool(self, thread_id: str) -> None:
        """Forget where a thread ended; it is read from the store next time."""
        self._heads.drop(thread_id)
        self._last.pop(thread_id, None)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns, id = _place(config)
        if not ns and not id and (head := self._heads.get(thread_id)):
            return head.tuple

        def read(session: Session) -> tuple[table.Checkpoint, list[table.Write]] | None:
            row = (
                table.exact(session, thread_id, ns, id)
                if id
                else table.newest(session, thread_id, ns)
            )
            return row and (row, table.writes_on(session, thread_id, ns, row.id))

        found = await self._database.run(read, durable=False)
        return self._tuple(*found) if found else None

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        thread_id, ns, id = _place(config)
        head = self._heads.get(thread_id)
        if (
            head
            and not ns
            and id in (None, head.tuple.checkpoint["id"])
            and list(channels) == [MESSAGES]
        ):
            return {MESSAGES: {"writes": [], "seed": head.messages}}

        def read(session: Session) -> Mapping[str, DeltaChannelHistory]:
            row = (
                table.exact(session, thread_id, ns, id)
                if id
                else table.newest(session, thread_id, ns)
            )
            return (
                {c: {"writes": []} for c in channels}
                if row is None
                else self._walk(session, row, channels)
            )

        return cast(
            Mapping[str, DeltaChannelHistory], await self._database.run(read, durable=False)
        )

    def _walk(
        self, session: Session, row: table.Checkpoint, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Go back until every channel has a stored value; collect what was written on top of it."""
        writes: dict[str, list[list[table.Write]]] = {channel: [] for channel in channels}
        seeds: dict[str, Any] = {}
        for ancestor in table.ancestors(session, row):
            here = table.writes_on(session, ancestor.thread_id, ancestor.ns, ancestor.id)
            here.sort(key=lambda w: writes_sort_key(w.task_path, w.task_id, w.idx))
            values = self.serde.loads_typed((ancestor.type, ancestor.blob))["channel_values"]
            for channel in [c for c in channels if c not in seeds]:
                writes[channel].append([w for w in here if w.channel == channel])
                if channel in values:
                    seeds[channel] = values[channel]
            if len(seeds) == len(channels):
                break
        return {channel: self._history(channel, writes[channel], seeds) for channel in channels}

    def _history(
        self, channel: str, steps: list[list[table.Write]], seeds: Mapping[str, Any]
    ) -> DeltaChannelHistory:
        found: DeltaChannelHistory = {
            "writes": [
                (w.task_id, w.channel, self.serde.loads_typed((w.type, w.blob)))
                for step in reversed(steps)
                for w in step
            ]
        }
        if channel in seeds:
            found["seed"] = seeds[channel]
        return found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: State,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self._check_lease()
        thread_id, ns, parent = _place(config)
        whole = get_checkpoint_metadata(config, metadata)
        type_, blob = self.serde.dumps_typed(checkpoint)
        row = table.Checkpoint(
            thread_id,
            ns,
            checkpoint["id"],
            parent,
            type_,
            blob,
            json.dumps(whole, ensure_ascii=False).encode("utf-8", "ignore"),
        )
        innocent = _got_further()
        await self._database.run(
            lambda session: table.put(session, row, innocent=innocent), durable=False
        )
        here = _config(thread_id, ns, checkpoint["id"])
        if not ns:
            self._heads.drop(thread_id)
            before = _config(thread_id, ns, parent) if parent else None
            self._last[thread_id] = CheckpointTuple(here, checkpoint, whole, before, [])
        return here

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        self._check_lease()
        thread_id, ns, id = _place(config)
        if not ns:
            self._heads.drop(thread_id)
        rows = [
            table.Write(
                thread_id,
                ns,
                id or "",
                task_id,
                task_path,
                WRITES_IDX_MAP.get(channel, idx),
                channel,
                *self.serde.dumps_typed(value),
            )
            for idx, (channel, value) in enumerate(writes)
        ]
        replace = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        await self._database.run(
            lambda session: table.put_writes(session, rows, replace=replace), durable=False
        )

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The checkpoints of one thread, newest first; read at once, nothing is held meanwhile."""
        if config is None or filter or before:
            raise NotImplementedError("only the history of one thread can be listed")
        thread_id, ns, _ = _place(config)
        rows = await self._database.run(lambda s: table.history(s, thread_id), durable=False)
        for row in [r for r in rows if r.ns == ns][:limit]:
            yield self._tuple(row, [])

    async def adelete_thread(self, thread_id: str) -> None:
        self.cool(thread_id)
        await self._database.run(lambda session: table.forget(session, thread_id), durable=False)

    async def rows(self, thread_id: str) -> int:
        """How many checkpoints a thread has gathered, those of its sub-agents included."""
        found = await self._database.run(lambda s: table.count(s, thread_id), durable=False)
        return cast(int, found)

    async def keep_head(self, thread_id: str, id: str) -> int:
        """Delete every other checkpoint of a thread whose state stands whole in this one."""
        gone = await self._database.run(lambda s: table.keep_one(s, thread_id, id), durable=False)
        return cast(int, gone)

    def _tuple(self, row: table.Checkpoint, writes: list[table.Write]) -> CheckpointTuple:
        writes.sort(key=lambda w: writes_sort_key(w.task_path, w.task_id, w.idx))
        loads = self.serde.loads_typed
        return CheckpointTuple(
            _config(row.thread_id, row.ns, row.id),
            loads((row.type, row.blob)),
            json.loads(row.metadata) if row.metadata else {},
            _config(row.thread_id, row.ns, row.parent) if row.parent else None,
            [(w.task_id, w.channel, loads((w.type, w.blob))) for w in writes],
        )

    def _check_lease(self) -> None:
        run = run_.get()
        if run is not None:  # a compaction has no run
            run.check_lease()


def _got_further() -> tuple[str, int] | None:
    """The claim that this step belongs to, when earlier claims of its event never ended."""
    run = run_.get()
    if run is None or not run.claim.crashes:
        return None
    return run.claim.thread_key, run.claim.fence


def _place(config: RunnableConfig) -> tuple[str, str, str | None]:
    where = config["configurable"]
    return str(where["thread_id"]), where.get("checkpoint_ns", ""), get_checkpoint_id(config)


def _config(thread_id: str, ns: str, id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": id}}
