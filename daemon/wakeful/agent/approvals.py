"""Asking a person before a tool runs, and doing what they say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal, Protocol

from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import interrupt

from wakeful.agent.current import Run
from wakeful.agent.egress import Gate
from wakeful.agent.policy import Policy, digest_of
from wakeful.agent.results import refusal
from wakeful.events import Decision

OTHER = "The approval was given for other arguments. It was not run."
REJECTED = "Rejected{by}{why}. It was not run; do not try it again unless asked."
NO_ARGS = "No changed arguments were given, so it was not run."
MISFIT = "The changed arguments do not fit, so it was not run: {fault}"
EDITED = "(Before this ran, {by} changed the arguments to {args})"
EXPIRED = (
    "Nobody answered in time, so it was not run. Do not call it again in this run; say what is "
    "missing."
)
AGAIN = (
    "Not available: nobody answered in time when this was asked before in this run. It was not "
    "run, and nobody is asked again."
)
UNAVAILABLE = (
    "Not available: {tool} needs the approval of a person, and nobody who may give it can be "
    "reached from this run. It was not run; go on without it, and say so."
)

Allowed = tuple[ToolCallRequest, str]  # what may run, and what the model must be told of it
Standing = Literal["new", "asked", "expired", "granted"]


class Book(Protocol):
    """The part of the store that knows what was asked before."""

    async def standing(
        self,
        *,
        thread_key: str,
        graph_id: str,
        event_seq: int,
        principal: str,
        tool: str,
        digest: str,
        call: str,
    ) -> Standing: ...


async def permit(
    policy: Policy,
    book: Book,
    run: Run,
    request: ToolCallRequest,
    key: str,
    door: Gate | None = None,
) -> ToolMessage | Allowed:
    """Let a call go on, if need be after a person said so; else the reason why it does not.

    A call that was asked about goes to its answer, whatever the rules say by now. An address that
    is not free (`door`) is asked about each time: no rule and no earlier yes stands for it.
    """
    call, event = request.tool_call, run.claim.event
    tool, traits = call["name"], policy.of(call["name"])
    if request.tool is None or not (door or policy.gates.may_ask(tool, traits, event.source)):
        return request, ""
    if fault := policy.misfit(tool, call["args"]):  # nobody is asked about what cannot run
        return refusal(request, f"{tool} was called with wrong arguments: {fault}")
    before, rule = await standing(book, run, request, key), "always"
    if before != "asked":
        values = policy.values(tool, call["args"])
        if door is None or door.free:
            rule = await policy.gates.rule(tool, traits, event.source, values)
        if rule == "never" or (rule == "once" and before == "granted"):
            return request, ""
        if wrong := hopeless(policy, run, request, before, door):
            return wrong
    title = door.title(tool) if door and not door.free else ""
    return _ask(policy, request, key, grants=rule == "once", title=title)


async def standing(book: Book, run: Run, request: ToolCallRequest, key: str) -> Standing:
    """What is known of a call before anybody is asked about it."""
    call, claim = request.tool_call, run.claim
    return await book.standing(
        thread_key=claim.thread_key,
        graph_id=claim.graph_id,
        event_seq=claim.seq,
        principal=claim.event.principal,
        tool=call["name"],
        digest=digest_of(call["name"], call["args"]),
        call=key,
    )


def hopeless(
    policy: Policy, run: Run, request: ToolCallRequest, before: Standing, door: Gate | None = None
) -> ToolMessage | None:
    """The reason why nobody is asked at all."""
    if before == "expired":
        return refusal(request, AGAIN)
    if not policy.gates.reachable(run.claim.event, request.tool_call["name"]):
        barred = door.refusal() if door and not door.free else ""
        return refusal(request, barred or UNAVAILABLE.format(tool=request.tool_call["name"]))
    return None


def _ask(
    policy: Policy, request: ToolCallRequest, key: str, *, grants: bool, title: str
) -> ToolMessage | Allowed:
    """Wait for a person. The run stops here, and comes here again with the answer."""
    call = request.tool_call
    digest = digest_of(call["name"], call["args"])
    schema = policy.schemas.get(call["name"])
    answer = interrupt(
        {
            "kind": "approval",
            "title": title,
            "tool": call["name"],
            "args": call["args"],
            "digest": digest,
            "agent": policy.agent,
            "call_id": call["id"],
            "call": key,
            "grants": grants,
            "schema": schema.model_json_schema() if schema else {},
        }
    )
    return _obey(policy, request, answer if isinstance(answer, dict) else {}, digest)


def _obey(
    policy: Policy, request: ToolCallRequest, answer: Mapping[str, Any], digest: str
) -> ToolMessage | Allowed:
    verdict = answer.get("verdict")
    if verdict in ("approve", "edit") and answer.get("digest") not in ("", None, digest):
        return refusal(request, OTHER)
    if verdict == "approve":
        return request, ""
    if verdict == "edit":
        return _edited(policy, request, answer)
    if verdict == "reject" and not answer.get("by"):
        return refusal(request, EXPIRED)
    reason = answer.get("reason") or answer.get("text")
    by = f" by {answer['by']}" if answer.get("by") else ""
    return refusal(
        request, REJECTED.format(by=by, why=f": {str(reason).rstrip(' .')}" if reason else "")
    )


def _edited(
    policy: Policy, request: ToolCallRequest, answer: Mapping[str, Any]
) -> ToolMessage | Allowed:
    """Other arguments for the same tool; never another tool."""
    args = answer.get("args")
    if not isinstance(args, dict):
        return refusal(request, NO_ARGS)
    if fault := policy.misfit(request.tool_call["name"], args):
        return refusal(request, MISFIT.format(fault=fault))
    edited = request.override(tool_call={**request.tool_call, "args": args})
    by, told = answer.get("by") or "a person", json.dumps(args, ensure_ascii=False)
    return edited, EDITED.format(by=by, args=told)


def answer_of(decision: Decision) -> dict[str, Any]:
    """A decision as the interrupt gets it: plain values, since it is stored in a checkpoint."""
    plain = asdict(decision)
    return plain | {"args": dict(decision.args) if decision.args is not None else None}
