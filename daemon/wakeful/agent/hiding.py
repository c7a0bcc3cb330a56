"""No secret that the daemon gave out stays in a message: neither in its text nor in arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage

Hide = Callable[[str], str]
M = TypeVar("M", bound=BaseMessage)


def nothing(text: str) -> str:
    """Hides nothing, where no secrets are known."""
    return text


def hidden(message: M, hide: Hide) -> M:
    """The message without secrets; the same one when there were none."""
    changes: dict[str, Any] = {}
    if (content := without(message.content, hide)) != message.content:
        changes["content"] = content
    for name in ("tool_calls", "invalid_tool_calls") if isinstance(message, AIMessage) else ():
        calls = getattr(message, name)
        if calls and (clean := without(calls, hide)) != calls:
            changes[name] = clean
    return message.model_copy(update=changes) if changes else message


def without(value: Any, hide: Hide) -> Any:
    """A plain value, every text in it without secrets."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {without(key, hide): without(inner, hide) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [without(inner, hide) for inner in value]
    return value
