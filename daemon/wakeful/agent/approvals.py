"""Asking a person before a tool runs, and doing what they say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import interrupt

from wakeful.agent.policy import Policy, digest_of
from wakeful.agent.results import refusal
from wakeful.events import Decision

OTHER = "The approval was given for other arguments. It was not run."
REJECTED = "Rejected{by}{why}. It was not run; do not try it again unless asked."
NO_ARGS = "No changed arguments were given, so it was not run."
MISFIT = "The changed arguments do not fit, so it was not run: {fault}"
EDITED = "(Before this ran, {by} changed the arguments to {args})"

Allowed = tuple[ToolCallRequest, str]  # what may run, and what the model must be told of it


def ask(policy: Policy, request: ToolCallRequest, title: str = "") -> ToolMessage | Allowed:
    """Wait for a person. The run stops here, and comes here again with the answer."""
    call = request.tool_call
    if fault := policy.misfit(call["name"], call["args"]):  # nobody is asked about what cannot run
        return refusal(request, f"{call['name']} was called with wrong arguments: {fault}")
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
