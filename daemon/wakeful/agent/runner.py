"""The agent, as the worker knows it: run one claim, repair a thread, keep threads small."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained, GraphRecursionError
from langgraph.runtime import RunControl
from langgraph.types import Command, Interrupt, StateSnapshot

from wakeful.agent import compaction, outcome, table
from wakeful.agent.approvals import answer_of
from wakeful.agent.current import Emit, Run, run_
from wakeful.agent.failures import explain
from wakeful.agent.graph import Built
from wakeful.agent.hiding import Hide, hidden, nothing
from wakeful.agent.inbound import dangling, id_of, messages_of
from wakeful.agent.live import Artefacts
from wakeful.agent.saver import Saver
from wakeful.agent.stream import stream
from wakeful.agent.thinking import out_of_steps
from wakeful.errors import Drained, LeaseLost, StoreBroken
from wakeful.events import Claim, Done, Outcome, Parked
from wakeful.host import Clock

log = logging.getLogger(__name__)

SUPERSTEPS = 4  # per step of the limits: a backstop behind our own count


class _Stop(RunControl):
    """Asks the graph to end at its next safe point once the event is set; no task watches it."""

    __slots__ = ("_event",)

    def __init__(self, event: asyncio.Event) -> None:
        super().__init__()
        self._event = event

    @property
    def drain_requested(self) -> bool:
        return self._event.is_set()

    @property
    def drain_reason(self) -> str | None:
        return "asked to stop" if self._event.is_set() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What an agent works with, beside its graph."""

    saver: Saver
    recall: Callable[[str], Awaitable[tuple[str, ...]]]  # what a principal told before
    clock: Clock
    workspace: Path
    artefacts: Artefacts | None
    steps: int
    hide: Hide = nothing


class Runner:
    """One graph and its threads."""

    def __init__(self, built: Built, means: Means) -> None:
        self.graph, self.fingerprint, self._means = built.graph, built.fingerprint, means
        self._gated, self._gates = built.gated, built.gates
        self.threads = compaction.Threads(built.graph, means.saver)

    async def run(self, claim: Claim, *, emit: Emit | None, stop: asyncio.Event | None) -> Outcome:
        """Run or resume one event. Raises Drained at the next safe point once `stop` is set."""
        run = Run(claim=claim, clock=self._means.clock, emit=emit, hide=self._means.hide)
        run.memory = await self._means.recall(claim.event.principal)
        token = run_.set(run)
        try:
            return await self._go(run, stop)
        except (Drained, LeaseLost, StoreBroken):
            raise
        except GraphDrained:
            raise Drained from None
        except Exception as error:
            log.warning("Event %d failed: %s", claim.seq, error, extra={"action": "run_failed"})
            now = datetime.fromtimestamp(self._means.clock.now() / 1000, UTC)
            return replace(
                explain(error, now=now, hide=self._means.hide),
                steps=tuple(run.steps),
                fingerprint=self.fingerprint,
            )
        finally:
            run_.reset(token)

    async def _go(self, run: Run, stop: asyncio.Event | None) -> Outcome:
        claim = run.claim
        config = self._config(claim)
        values, pending = await self._first(run, config, stop)
        while not pending and (late := await self._late(claim, values)):
            values, pending = await self._invoke(run, {"messages": late}, config, stop)
        if pending:
            return self._parked(run, pending)
        return await self._done(run, values, config)

    async def _first(
        self, run: Run, config: RunnableConfig, stop: asyncio.Event | None
    ) -> tuple[Mapping[str, Any], tuple[Interrupt, ...]]:
        """The row of the crash table that the thread is in, carried out."""
        claim = run.claim
        if self._means.saver.is_warm(claim.graph_id, claim.fence):
            given = await self._input(claim, [])
            return await self._invoke(run, given, config, stop)
        snapshot = await self.graph.aget_state(config)
        row = table.row_of(snapshot, claim)
        messages: list[AnyMessage] = snapshot.values.get("messages", [])
        run.cold = bool(messages)
        run.spent = len(outcome.turn_of(messages, claim)) if not isinstance(row, table.Start) else 0
        if self._is_foreign(claim, row, messages):
            return await self._migrate(run, snapshot, config, stop)
        match row:
            case table.Start():
                given = await self._input(claim, messages)
                return await self._invoke(run, given, config, stop)
            case table.Resume(answers=answers):
                resume = {id: answer_of(decision) for id, decision in answers.items()}
                return await self._invoke(run, Command(resume=resume), config, stop)
            case table.Continue():
                return await self._invoke(run, None, config, stop)
            case table.Park(interrupts=interrupts):
                return snapshot.values, interrupts
            case table.Finish(values=values):
                return values, ()

    async def _input(self, claim: Claim, messages: list[AnyMessage]) -> dict[str, Any]:
        """`messages`: those of the thread when it may have been left open."""
        means = self._means
        new = await messages_of(claim, means.workspace, means.artefacts)
        new = [hidden(message, means.hide) for message in new]
        return {"messages": [*dangling(messages), *new]}

    async def _late(self, claim: Claim, values: Mapping[str, Any]) -> list[AnyMessage]:
        """What joined this event and is not in the thread yet."""
        if not claim.merged:
            return []
        there = {message.id for message in values.get("messages", ())}
        if all(id_of(seq) in there for seq, _ in claim.merged):
            return []
        means = self._means
        new = await messages_of(claim, means.workspace, means.artefacts)
        return [hidden(message, means.hide) for message in new if message.id not in there]

    async def _invoke(
        self, run: Run, given: Any, config: RunnableConfig, stop: asyncio.Event | None
    ) -> tuple[Mapping[str, Any], tuple[Interrupt, ...]]:
        control = _Stop(stop) if stop is not None else None
        try:
            if run.emit is None:
                values = await self.graph.ainvoke(given, config, durability="sync", control=control)
            else:
                values = await stream(self.graph, run, given, config, control)
        except GraphRecursionError:
            return await self._stopped(run, config)
        pending: tuple[Interrupt, ...] = ()
        if values.get("__interrupt__"):
            snapshot = await self.graph.aget_state(config)
            pending = tuple(i for task in snapshot.tasks for i in task.interrupts)
        return values, pending

    async def _stopped(
        self, run: Run, config: RunnableConfig
    ) -> tuple[Mapping[str, Any], tuple[Interrupt, ...]]:
        await self._close(config, out_of_steps(self._means.steps))
        snapshot = await self.graph.aget_state(config)
        return snapshot.values, ()

    # -- ends

    def _parked(self, run: Run, pending: tuple[Interrupt, ...]) -> Parked:
        self._means.saver.cool(run.claim.graph_id)
        open_ids = {interrupt.id for interrupt in pending}
        return Parked(
            waits=tuple(
                self._gates.addressed(request, run.claim.event, self._means.clock.now())
                for request in outcome.waits(pending)
            ),
            steps=tuple(run.steps),
            fingerprint=self.fingerprint,
            applied=tuple(id for id in run.claim.decisions if id not in open_ids),
        )

    async def _done(self, run: Run, values: Mapping[str, Any], config: RunnableConfig) -> Done:
        claim, messages = run.claim, values.get("messages", [])
        turn = outcome.turn_of(messages, claim)
        silent = outcome.silence(turn)
        reply = None if silent else outcome.answer(turn, claim)
        self._means.saver.settle(claim.graph_id, claim.fence, messages)
        await self.threads.finished(run, config)
        return Done(
            replies=(reply,) if reply else (),
            silent=silent,
            messages=outcome.history(turn, claim, self._means.clock.now()),
            steps=tuple(run.steps),
            fingerprint=self.fingerprint,
            applied=tuple(claim.decisions),
        )

    # -- threads that are not as they should be

    def _is_foreign(self, claim: Claim, row: table.Row, messages: list[AnyMessage]) -> bool:
        """Left unfinished by another definition of the graph, so that this one cannot go on."""
        if claim.fingerprint in (None, "", self.fingerprint):
            return False
        if isinstance(row, table.Finish):
            return outcome.is_open(messages)
        asked = {i.value.get("tool") for i in row.interrupts if isinstance(i.value, dict)}
        return not asked <= self._gated

    async def _migrate(
        self, run: Run, snapshot: StateSnapshot, config: RunnableConfig, stop: asyncio.Event | None
    ) -> tuple[Mapping[str, Any], tuple[Interrupt, ...]]:
        """Tell the model what became of its open calls; it goes on under the new definition."""
        closed = list(dangling(snapshot.values.get("messages", [])))
        log.warning(
            "Event %d was left unfinished by another definition of the agent; calls closed: %d.",
            run.claim.seq,
            len(closed),
            extra={"action": "migrated", "event": run.claim.seq},
        )
        if not closed:
            given = await self._input(run.claim, [])
            return await self._invoke(run, given, config, stop)
        await self.graph.aupdate_state(config, {"messages": closed}, as_node="tools")
        return await self._invoke(run, None, config, stop)

    async def repair(self, claim: Claim, text: str) -> None:
        """Close what a dead event left open, so that the next event can run."""
        self._means.saver.cool(claim.graph_id)
        config = self._config(claim)
        snapshot = await self.graph.aget_state(config)
        if isinstance(table.row_of(snapshot, claim), table.Start):
            messages = snapshot.values.get("messages", [])
            given = await self._input(claim, messages)
            await self.graph.aupdate_state(config, given, as_node="__start__")
        await self._close(config, AIMessage(text))

    async def _close(self, config: RunnableConfig, last: AIMessage) -> None:
        snapshot = await self.graph.aget_state(config)
        messages = [*dangling(snapshot.values.get("messages", [])), last]
        await self.graph.aupdate_state(config, {"messages": messages}, as_node="model")

    def _config(self, claim: Claim) -> RunnableConfig:
        return {
            "configurable": {"thread_id": claim.graph_id},
            "metadata": {"event_seq": claim.seq, "fence": claim.fence},
            "recursion_limit": self._means.steps * SUPERSTEPS + 100,
        }
