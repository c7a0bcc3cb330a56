"""No secret that the daemon gave out stays in a message: neither in its text nor in arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage

from wakeful.redact import everywhere

Hide = Callable[[str], str]
M = TypeVar("M", bound=BaseMessage)


def nothing(text: str) -> str:
    """Hides nothing, where no secrets are known."""
    return text


def hidden(message: M, hide: Hide) -> M:
    """The message without secrets; the same one when there were none."""
    changes: dict[str, Any] = {}
    if (content := everywhere(message.content, hide)) != message.content:
        changes["content"] = content
    for name in ("tool_calls", "invalid_tool_calls") if isinstance(message, AIMessage) else ():
        calls = getattr(message, name)
        if calls and (clean := everywhere(calls, hide)) != calls:
            changes[name] = clean
    return message.model_copy(update=changes) if changes else message
