"""A question to a person: the run stops, and what they answer is the result of the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import interrupt

from wakeful.agent.approvals import Book, hopeless, standing
from wakeful.agent.current import Run
from wakeful.agent.policy import Policy, digest_of
from wakeful.agent.results import refusal

ASK_HUMAN = "ask_human"
EXPIRED = "Nobody answered in time. Go on without the answer, or say what you need it for."
DECLINED = "{by} does not want to answer now{why}. Do not ask it again unless they bring it up."


async def put_question(
    policy: Policy, book: Book, run: Run, request: ToolCallRequest, key: str
) -> ToolMessage:
    """Ask, and wait; a question that nobody can see is not asked."""
    call = request.tool_call
    if fault := policy.misfit(call["name"], call["args"]):
        return refusal(request, f"{call['name']} was called with wrong arguments: {fault}")
    values = policy.values(call["name"], call["args"])
    before = await standing(book, run, request, key)
    if before != "asked" and (wrong := hopeless(policy, run, request, before)):
        return wrong
    answer = interrupt(
        {
            "kind": "question",
            "tool": call["name"],
            "args": dict(values),
            "digest": digest_of(call["name"], call["args"]),
            "agent": policy.agent,
            "call_id": call["id"],
            "call": key,
        }
    )
    told = answer if isinstance(answer, dict) else {}
    return _answered(request, told, options=_options(values))


def _options(values: Mapping[str, object]) -> list[str]:
    options = values.get("options")
    return [str(one) for one in options] if isinstance(options, list) else []


def _answered(
    request: ToolCallRequest, answer: Mapping[str, Any], options: Sequence[str]
) -> ToolMessage:
    by, text = answer.get("by") or "", str(answer.get("text") or "").strip()
    if answer.get("verdict") != "answer" or not text:
        reason = answer.get("reason") or text
        why = f": {reason}" if reason else ""
        return refusal(request, DECLINED.format(by=by, why=why) if by else EXPIRED)
    if text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= len(options):
        text = options[int(text) - 1]  # an option by its number
    call = request.tool_call
    return ToolMessage(f"{by}: {text}", tool_call_id=call["id"] or "", name=call["name"])
