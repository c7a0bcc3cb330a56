"""Results of tool calls, as messages that the model reads."""

from __future__ import annotations

from typing import Any

from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.types import Command

from wakeful.agent.hiding import Hide
from wakeful.errors import Ask, SignInNeeded, WakefulError
from wakeful.redact import redact

Result = ToolMessage | Command[Any]

ERROR_LIMIT = 2_000  # characters of an error that the model sees

ASKED = (
    "{tool} stopped, because a person must be asked first: {question} Nobody was asked: a tool "
    "cannot put its question to people by itself. Ask in your answer, and call it again when you "
    "know."
)
SIGN_IN = (
    "{tool} stopped, because it needs a sign-in: {who} must connect {what} first. Say so in your "
    "answer, and call it again when that is done."
)
IN_THE_MIDDLE = (
    "{tool} stopped in the middle of its work to wait for a person, and a tool cannot do that. "
    "What it did before stays done; find out what that was before you call it again."
)


def refusal(request: ToolCallRequest, text: str) -> ToolMessage:
    """A result that says why there is none."""
    call = request.tool_call
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")


def failure(request: ToolCallRequest, error: Exception, hide: Hide) -> ToolMessage:
    """What went wrong in a tool, or what it needs a person for."""
    text = hide(redact(_sentence(request.tool_call["name"], error)))  # before it is cut
    return refusal(request, text[:ERROR_LIMIT])


def _sentence(tool: str, error: Exception) -> str:
    if isinstance(error, Ask):
        details = "; ".join(f"{name}: {value}" for name, value in error.details.items())
        return ASKED.format(tool=tool, question=f"{error} ({details})" if details else str(error))
    if isinstance(error, SignInNeeded):
        return SIGN_IN.format(tool=tool, who=error.principal, what=error.connection)
    if isinstance(error, GraphInterrupt):
        return IN_THE_MIDDLE.format(tool=tool)
    known = isinstance(error, WakefulError)  # a sentence already
    return f"{tool} failed: {error if known else f'{type(error).__name__}: {error}'}"


def message_of(request: ToolCallRequest, result: Result) -> ToolMessage:
    """The message in a result, also of a tool that answered with a whole state update."""
    if isinstance(result, ToolMessage):
        return result
    update = result.update if isinstance(result.update, dict) else {}
    messages = [m for m in update.get("messages", ()) if isinstance(m, ToolMessage)]
    call = request.tool_call
    done = ToolMessage("Done.", tool_call_id=call["id"] or "", name=call["name"])
    return messages[0] if messages else done
