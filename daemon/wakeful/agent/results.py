"""Results of tool calls, as messages that the model reads."""

from __future__ import annotations

from typing import Any

from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from wakeful.agent.hiding import Hide
from wakeful.errors import WakefulError
from wakeful.redact import redact

Result = ToolMessage | Command[Any]

ERROR_LIMIT = 2_000  # characters of an error that the model sees


def refusal(request: ToolCallRequest, text: str) -> ToolMessage:
    """A result that says why there is none."""
    call = request.tool_call
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")


def failure(request: ToolCallRequest, error: Exception, hide: Hide) -> ToolMessage:
    """What went wrong in a tool; an error of ours is a sentence already."""
    said = str(error) if isinstance(error, WakefulError) else f"{type(error).__name__}: {error}"
    text = f"{request.tool_call['name']} failed: {hide(redact(said))}"  # before it is cut
    return refusal(request, text[:ERROR_LIMIT])


def message_of(request: ToolCallRequest, result: Result) -> ToolMessage:
    """The message in a result, also of a tool that answered with a whole state update."""
    if isinstance(result, ToolMessage):
        return result
    update = result.update if isinstance(result.update, dict) else {}
    messages = [m for m in update.get("messages", ()) if isinstance(m, ToolMessage)]
    call = request.tool_call
    done = ToolMessage("Done.", tool_call_id=call["id"] or "", name=call["name"])
    return messages[0] if messages else done
