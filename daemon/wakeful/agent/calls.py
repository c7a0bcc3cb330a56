"""Around every tool call of every agent: approval, the journal of effects, errors as results.

The order matters. A person is asked before the journal is touched: a question is not an effect.
The intention is committed before the call and its outcome after it; a call that is found begun is
told, never repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, interrupt
from pydantic import BaseModel, ValidationError

from wakeful.agent.current import Run, call_, current
from wakeful.errors import LeaseLost, StoreBroken
from wakeful.events import Decision, Step, Update
from wakeful.host import Host
from wakeful.tool import Call, Traits

Result = ToolMessage | Command[Any]
State = Literal["started", "done", "unknown", "failed"]
Handler = Callable[[ToolCallRequest], Awaitable[Result]]

TASK = "task"
TODOS = "write_todos"
SUMMARY = 500  # characters of a result in the trail
ERROR_LIMIT = 2_000  # characters of an error that the model sees

# What deepagents brings itself. A sub-agent is entered again: its own calls are journaled.
OURS = {
    **dict.fromkeys(("ls", "read_file", "glob", "grep"), Traits("read")),
    **dict.fromkeys(("write_file", "edit_file", "delete", TODOS, TASK), Traits("repeat")),
}

UNKNOWN = (
    "OUTCOME UNKNOWN: the daemon was interrupted while this call was running. It may have taken "
    "effect, and it was not repeated. Find out whether it did before you call it again, or say "
    "that you do not know."
)
TWICE = (
    "Error: write_todos was called more than once in this message. Send one list with everything."
)


class Journal(Protocol):
    """The part of the store that keeps effects."""

    async def begin_effect(
        self, *, thread_key: str, fence: int, key: str, event_seq: int, tool: str, digest: str
    ) -> Any: ...
    async def end_effect(self, key: str, state: State, result: str | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """What is known of the tools of one agent."""

    agent: str
    traits: Mapping[str, Traits]
    schemas: Mapping[str, type[BaseModel]]

    def of(self, tool: str) -> Traits:
        return OURS.get(tool) or self.traits.get(tool) or Traits()


class Calls(AgentMiddleware[Any, Any, Any]):
    """The middleware of one agent's tool calls."""

    def __init__(self, policy: Policy, journal: Journal, host: Host | None) -> None:
        super().__init__()
        self._policy, self._journal, self._host = policy, journal, host

    @property
    def name(self) -> str:
        return "Calls"

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Result:
        run, call = current(), request.tool_call
        run.spent += 1
        traits = self._policy.of(call["name"])
        if call["name"] == TODOS and _calls_of(request, TODOS) > 1:
            return _error(request, TWICE)
        note = ""
        if traits.approve == "always":
            verdict = self._ask(request)
            if isinstance(verdict, ToolMessage):
                return verdict
            request, note = verdict
        result = await self._timed(run, request, handler, traits)
        if note and isinstance(result, ToolMessage):
            result = result.model_copy(update={"content": f"{note}\n{result.text}"})
        return result

    # -- approval

    def _ask(self, request: ToolCallRequest) -> ToolMessage | tuple[ToolCallRequest, str]:
        """Wait for a person. The run stops here, and comes here again with the answer."""
        call = request.tool_call
        digest = digest_of(call["name"], call["args"])
        schema = self._policy.schemas.get(call["name"])
        if fault := _misfit(schema, call["args"]):  # nobody is asked about what cannot run
            return _error(request, f"{call['name']} was called with wrong arguments: {fault}")
        answer = interrupt(
            {
                "kind": "approval",
                "tool": call["name"],
                "args": call["args"],
                "digest": digest,
                "agent": self._policy.agent,
                "call_id": call["id"],
                "schema": schema.model_json_schema() if schema else {},
            }
        )
        return self._obey(request, answer, digest)

    def _obey(
        self, request: ToolCallRequest, answer: Any, digest: str
    ) -> ToolMessage | tuple[ToolCallRequest, str]:
        verdict = answer.get("verdict") if isinstance(answer, dict) else None
        if verdict in ("approve", "edit") and answer.get("digest") not in ("", None, digest):
            return _error(request, "The approval was given for other arguments. It was not run.")
        if verdict == "approve":
            return request, ""
        if verdict == "edit":
            return self._edited(request, answer)
        by = f" by {answer['by']}" if isinstance(answer, dict) and answer.get("by") else ""
        reason = (answer.get("reason") or answer.get("text")) if isinstance(answer, dict) else ""
        why = f": {reason}" if reason else "."
        return _error(
            request, f"Rejected{by}{why} It was not run; do not try it again unless asked."
        )

    def _edited(
        self, request: ToolCallRequest, answer: Mapping[str, Any]
    ) -> ToolMessage | tuple[ToolCallRequest, str]:
        """Other arguments for the same tool; never another tool."""
        args = answer.get("args")
        schema = self._policy.schemas.get(request.tool_call["name"])
        if not isinstance(args, dict):
            return _error(request, "No changed arguments were given, so it was not run.")
        if fault := _misfit(schema, args):
            return _error(request, f"The changed arguments do not fit, so it was not run: {fault}")
        edited = request.override(tool_call={**request.tool_call, "args": args})
        told = json.dumps(args, ensure_ascii=False)
        return (
            edited,
            f"(Before this ran, {answer.get('by') or 'a person'} changed the arguments to {told})",
        )

    # -- the call itself

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
            text, ok = _said(result)
            run.steps.append(
                Step(
                    kind="agent" if call["name"] == TASK else "tool",
                    agent=self._policy.agent,
                    name=name,
                    started_at=started,
                    ended_at=run.clock.now(),
                    ok=ok,
                    summary=text[:SUMMARY],
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
            if found.result is not None:
                return ToolMessage(**json.loads(found.result))
            await self._journal.end_effect(key, "unknown", None)
            return _error(request, UNKNOWN)
        result = await self._safely(run, request, handler, key)
        await asyncio.shield(self._record(key, request, result))
        return result

    async def _record(self, key: str, request: ToolCallRequest, result: Result) -> None:
        message = result if isinstance(result, ToolMessage) else _message_in(request, result)
        state: State = "failed" if message.status == "error" else "done"
        await self._journal.end_effect(key, state, message.model_dump_json(exclude_none=True))

    async def _safely(
        self, run: Run, request: ToolCallRequest, handler: Handler, key: str
    ) -> Result:
        """Errors of the tool are results that the model can read; ours are not the tool's."""
        token = call_.set(self._call(run, key))
        try:
            return await handler(request)
        except (GraphBubbleUp, LeaseLost, StoreBroken):
            raise
        except Exception as error:
            text = f"{request.tool_call['name']} failed: {type(error).__name__}: {error}"
            return _error(request, text[:ERROR_LIMIT])
        finally:
            call_.reset(token)

    def _call(self, run: Run, key: str) -> Call:
        event = run.claim.event
        return Call(
            idempotency_key=hashlib.sha256(key.encode()).hexdigest()[:32],
            thread_key=event.thread_key,
            event_seq=run.claim.seq,
            principal=event.principal,
            address=event.address,
            untrusted=run.claim.untrusted or event.untrusted,
            host=cast(Host, self._host),
        )


def _misfit(schema: type[BaseModel] | None, args: Mapping[str, Any]) -> str:
    """What is wrong with these arguments, one line for each; empty when nothing is."""
    if schema is None:
        return ""
    try:
        schema.model_validate(dict(args))
    except ValidationError as error:
        return "; ".join(
            f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
            for fault in error.errors()
        )
    return ""


def answer_of(decision: Decision) -> dict[str, Any]:
    """A decision as the interrupt gets it: plain values, since it is stored in a checkpoint."""
    plain = asdict(decision)
    return plain | {"args": dict(decision.args) if decision.args is not None else None}


def digest_of(tool: str, args: Mapping[str, Any]) -> str:
    """What a decision is bound to: the tool and its exact arguments."""
    text = json.dumps([tool, args], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def key_of(run: Run, request: ToolCallRequest) -> str:
    """The call's name in the journal: the same after every crash, another for every call."""
    message = _asking(request)
    return f"{run.claim.graph_id}|{message.id if message else ''}|{request.tool_call['id']}"


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


def _error(request: ToolCallRequest, text: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")


def _message_in(request: ToolCallRequest, command: Command[Any]) -> ToolMessage:
    """The message of a tool that answered with a whole state update."""
    update = command.update if isinstance(command.update, dict) else {}
    messages = [m for m in update.get("messages", ()) if isinstance(m, ToolMessage)]
    call = request.tool_call
    return (
        messages[0]
        if messages
        else ToolMessage("Done.", tool_call_id=call["id"] or "", name=call["name"])
    )


def _said(result: Result | None) -> tuple[str, bool]:
    if result is None:
        return "interrupted", False
    if isinstance(result, ToolMessage):
        return result.text, result.status != "error"
    update = result.update if isinstance(result.update, dict) else {}
    messages = [m for m in update.get("messages", ()) if isinstance(m, ToolMessage)]
    return (messages[0].text if messages else ""), True
