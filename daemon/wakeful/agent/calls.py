"""Around every tool call of every agent: approval, the journal of effects, errors as results.

The order matters. A person is asked before the journal is touched: a question is not an effect.
The intention is committed before the call and its outcome after it; a call that is found begun is
told, never repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.errors import GraphBubbleUp, GraphInterrupt

from wakeful.agent.approvals import Allowed, ask
from wakeful.agent.current import Run, call_, current
from wakeful.agent.egress import Gate, gate
from wakeful.agent.hiding import hidden
from wakeful.agent.outside import framed_result, unframed
from wakeful.agent.policy import TASK, TODOS, Policy, digest_of
from wakeful.agent.results import Result, failure, message_of, refusal
from wakeful.agent.workspace import reader
from wakeful.errors import LeaseLost, Refused, StoreBroken, WakefulError
from wakeful.events import EffectState, Step, Update
from wakeful.host import Host
from wakeful.outbound import Hosts
from wakeful.tool import Call, Traits

Handler = Callable[[ToolCallRequest], Awaitable[Result]]

SUMMARY = 500  # characters of a result in the trail

UNKNOWN = (
    "OUTCOME UNKNOWN: the daemon was interrupted while this call was running. It may have taken "
    "effect, and it was not repeated. Find out whether it did before you call it again, or say "
    "that you do not know."
)
OUT_OF_STEPS = (
    "This was not run: the run has used its {steps} steps ([limits] steps). End here, and say what "
    "is left to do."
)
TWICE = (
    "Error: write_todos was called more than once in this message. Send one list with everything."
)


class Journal(Protocol):
    """The part of the store that keeps effects."""

    async def begin_effect(
        self, *, thread_key: str, fence: int, key: str, event_seq: int, tool: str, digest: str
    ) -> Any: ...
    async def end_effect(self, key: str, state: EffectState, result: str | None) -> None: ...
    async def mark_untrusted(self, *, thread_key: str, fence: int) -> None: ...


class Calls(AgentMiddleware[Any, Any, Any]):
    """The middleware of one agent's tool calls."""

    def __init__(
        self,
        policy: Policy,
        journal: Journal,
        host: Host | None,
        *,
        steps: int,
        hosts: Callable[[], Hosts] = lambda: Hosts(()),  # those of the settings, as they are now
    ) -> None:
        super().__init__()
        self._policy, self._journal, self._host = policy, journal, host
        self._steps, self._hosts = steps, hosts

    @property
    def name(self) -> str:
        return "Calls"

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Result:
        run, call = current(), request.tool_call
        run.check_lease()
        if run.spent >= self._steps:
            return refusal(request, OUT_OF_STEPS.format(steps=self._steps))
        run.spent += 1
        traits = self._policy.of(call["name"])
        if call["name"] == TODOS and _calls_of(request, TODOS) > 1:
            return refusal(request, TWICE)
        note = ""
        asked = self._asked(run, request, traits)
        if isinstance(asked, ToolMessage):
            return asked
        if asked is not None:
            request, note = asked
        result = await self._timed(run, request, handler, traits)
        if note and isinstance(result, ToolMessage):
            result = result.model_copy(update={"content": f"{note}\n{result.text}"})
        return result

    def _asked(
        self, run: Run, request: ToolCallRequest, traits: Traits
    ) -> ToolMessage | Allowed | None:
        """None when nobody has to be asked; else what they say, or why it cannot be."""
        title = ""
        if traits.egress:
            try:
                door = self._door(run, request, traits)
            except Refused as error:
                return refusal(request, f"{request.tool_call['name']} failed: {error}")
            if door.unattended:
                return refusal(request, door.refusal())
            title = "" if door.free else door.title(request.tool_call["name"])
        if title or traits.approve == "always":
            return ask(self._policy, request, title)
        return None

    def _door(self, run: Run, request: ToolCallRequest, traits: Traits) -> Gate:
        call = request.tool_call
        return gate(run, self._hosts(), traits, call["name"], call["args"])

    async def _timed(
        self, run: Run, request: ToolCallRequest, handler: Handler, traits: Traits
    ) -> Result:
        """Run it, and leave a line in the trail."""
        call, started = request.tool_call, run.clock.now()
        told, ended = ("agent", "agent-end") if call["name"] == TASK else ("tool", "tool-end")
        name = call["args"].get("subagent_type", TASK) if call["name"] == TASK else call["name"]
        self._tell(run, told, name, call["id"])
        result: Result | None = None
        try:
            result = await self._once(run, request, handler, traits)
            return result
        finally:
            said = message_of(request, result) if result is not None else None
            ok = said is not None and said.status != "error"
            run.steps.append(
                Step(
                    kind="agent" if call["name"] == TASK else "tool",
                    agent=self._policy.agent,
                    name=name,
                    started_at=started,
                    ended_at=run.clock.now(),
                    ok=ok,
                    summary=unframed(said.text)[:SUMMARY] if said else "interrupted",
                )
            )
            self._tell(run, ended, name, call["id"], "" if ok else "failed")

    def _tell(self, run: Run, kind: Any, name: str, call_id: str | None, detail: str = "") -> None:
        if run.emit is not None:
            run.tell(
                Update(
                    kind=kind,
                    event_seq=run.claim.seq,
                    agent=self._policy.agent,
                    text=name,
                    call_id=call_id or "",
                    detail=detail,
                )
            )

    async def _once(
        self, run: Run, request: ToolCallRequest, handler: Handler, traits: Traits
    ) -> Result:
        """Journal what may happen once only; run the rest as it comes."""
        key = key_of(run, request)
        if traits.effect != "once" or request.tool is None:
            return await self._safely(run, request, handler, key)
        call = request.tool_call
        found = await self._journal.begin_effect(
            thread_key=run.claim.thread_key,
            fence=run.claim.fence,
            key=key,
            event_seq=run.claim.seq,
            tool=call["name"],
            digest=digest_of(call["name"], call["args"]),
        )
        if found is not None:
            if found.result is None:  # begun and never ended: the journal calls it unknown now
                return refusal(request, UNKNOWN)
            return ToolMessage(**json.loads(found.result))
        result = await self._safely(run, request, handler, key)
        await asyncio.shield(self._record(key, request, result))
        return result

    async def _record(self, key: str, request: ToolCallRequest, result: Result) -> None:
        message = message_of(request, result)
        state: EffectState = "failed" if message.status == "error" else "done"
        await self._journal.end_effect(key, state, message.model_dump_json(exclude_none=True))

    async def _safely(
        self, run: Run, request: ToolCallRequest, handler: Handler, key: str
    ) -> Result:
        """Errors of the tool are results that the model can read; ours are not the tool's."""
        traits, call = self._policy.of(request.tool_call["name"]), self._call(run, key)
        token = call_.set(call)
        try:
            if traits.egress:
                call_.set(replace(call, may_reach=self._door(run, request, traits).reach))
            result = _hidden(await handler(request), run)
            return await self._brought(run, request, result) if traits.outside else result
        except GraphInterrupt as error:
            if request.tool_call["name"] == TASK:  # a sub-agent's question, not the tool's own
                raise
            return failure(request, error, run.hide)
        except (GraphBubbleUp, LeaseLost, StoreBroken):
            raise
        except Exception as error:
            told = failure(request, error, run.hide)
            if traits.outside and not isinstance(error, WakefulError):  # whose words may be theirs
                return await self._brought(run, request, told)
            return told
        finally:
            call_.reset(token)

    async def _brought(self, run: Run, request: ToolCallRequest, result: Result) -> Result:
        """Outside text marks the thread, on disk, before the model has read a word of it."""
        claim = run.claim
        await self._journal.mark_untrusted(thread_key=claim.thread_key, fence=claim.fence)
        run.untrusted = True
        return framed_result(result, request.tool_call["name"])

    def _call(self, run: Run, key: str) -> Call:
        event = run.claim.event
        return Call(
            idempotency_key=hashlib.sha256(key.encode()).hexdigest()[:32],
            thread_key=event.thread_key,
            event_seq=run.claim.seq,
            principal=event.principal,
            address=event.address,
            untrusted=run.untrusted,
            host=cast(Host, self._host),
        )


def _hidden(result: Result, run: Run) -> Result:
    """A result without secrets, before the journal, the thread and the model have it."""
    if isinstance(result, ToolMessage):
        return hidden(result, run.hide)
    update = result.update
    if isinstance(update, dict) and isinstance(update.get("messages"), list):
        update["messages"] = [
            hidden(m, run.hide) if isinstance(m, ToolMessage) else m for m in update["messages"]
        ]
    return result


def key_of(run: Run, request: ToolCallRequest) -> str:
    """The call's name in the journal: the same after every crash, another for every call."""
    message, (_, agent) = _asking(request), reader()
    asked = message.id if message else ""
    return f"{run.claim.graph_id}|{agent}|{asked}|{request.tool_call['id']}"


def _asking(request: ToolCallRequest) -> AIMessage | None:
    """The AI message that this call stands in."""
    state, wanted = request.state, request.tool_call["id"]
    messages = state["messages"] if isinstance(state, dict) else getattr(state, "messages", [])
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(c["id"] == wanted for c in message.tool_calls):
            return message
    return None


def _calls_of(request: ToolCallRequest, tool: str) -> int:
    message = _asking(request)
    return sum(call["name"] == tool for call in message.tool_calls) if message else 0
