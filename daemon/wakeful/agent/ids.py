"""Ids that are nobody else's: some models reuse those of calls, or of whole messages.

A message with the id of an older one would replace it, and two calls with one id would share one
row of the journal: the second would be answered with the first one's result, and never run.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, ToolCall

M = TypeVar("M", bound=BaseMessage)


def with_own_ids(message: M, before: Sequence[BaseMessage]) -> M:
    """The message with an id that none before it has, and calls that can be told apart."""
    changes: dict[str, Any] = {}
    if message.id and any(other.id == message.id for other in before):
        changes["id"] = str(uuid.uuid4())
    if isinstance(message, AIMessage) and not _can_be_told_apart(message.tool_calls):
        changes["tool_calls"] = list(_distinct(message.tool_calls))
    return message.model_copy(update=changes) if changes else message


def _can_be_told_apart(calls: Sequence[ToolCall]) -> bool:
    return all(call["id"] for call in calls) and len({call["id"] for call in calls}) == len(calls)


def _distinct(calls: Sequence[ToolCall]) -> Iterator[ToolCall]:
    taken: set[str] = set()
    for call in calls:
        own = call["id"] if call["id"] and call["id"] not in taken else f"call_{uuid.uuid4().hex}"
        taken.add(own)
        yield ToolCall(name=call["name"], args=call["args"], id=own, type="tool_call")
