"""From the state of a thread to what the worker commits: reply, silence, notice or question."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.types import Interrupt

from wakeful.agent.failures import flaw
from wakeful.agent.inbound import id_of
from wakeful.agent.outside import unframed
from wakeful.agent.thinking import LIMIT, MARK
from wakeful.agent.tools import NO_REPLY
from wakeful.events import Claim, Message, Outgoing, WaitRequest

SHORT = 500  # characters of a tool's result in the thread's history
ARGS_LIMIT = 300  # characters of arguments in the sentence for a person


def turn_of(messages: Sequence[AnyMessage], claim: Claim) -> list[AnyMessage]:
    """What came after this event's own message."""
    own = id_of(claim.seq)
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].id == own:
            return list(messages[index + 1 :])
    last = next(
        (i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], HumanMessage)), -1
    )
    return list(messages[last + 1 :])


def is_open(messages: Sequence[AnyMessage]) -> bool:
    """True when the last word is not the agent's: a thread that looks finished and is not."""
    if not messages:
        return False
    last = messages[-1]
    if isinstance(last, AIMessage):
        return bool(last.tool_calls)
    return not (isinstance(last, ToolMessage) and last.name == NO_REPLY)


def silence(turn: Sequence[AnyMessage]) -> str:
    """The reason of a chosen silence; empty when the agent did not choose one."""
    for message in reversed(turn):
        if (
            isinstance(message, ToolMessage)
            and message.name == NO_REPLY
            and message.status != "error"
        ):
            return message.text.strip() or "the agent had nothing to say"
    return ""


def answer(turn: Sequence[AnyMessage], claim: Claim) -> Outgoing | None:
    """The last thing that the agent said, as a reply; a notice when it is not a whole answer."""
    last = next((m for m in reversed(turn) if isinstance(m, AIMessage)), None)
    address = claim.event.address
    if last is None or not address:
        return None
    text, wrong = last.text.strip(), flaw(last)
    if wrong is None and last.response_metadata.get(MARK) != LIMIT:
        return Outgoing(ordinal=f"final/{address}/0", address=address, text=text)
    parts = [text, f"({_sentence(wrong)} Ask again, or for the rest.)" if wrong else ""]
    said = "\n\n".join(part for part in parts if part)
    return Outgoing(ordinal="notice", address=address, text=said, kind="notice")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def history(turn: Sequence[AnyMessage], claim: Claim, now: int) -> tuple[Message, ...]:
    """What people may see of this turn: the tools that ran, and the answer."""
    lines = [
        Message(
            role="tool",
            text=unframed(m.text)[:SHORT],
            at=now,
            event_seq=claim.seq,
            name=m.name or "",
        )
        for m in turn
        if isinstance(m, ToolMessage)
    ]
    last = next((m for m in reversed(turn) if isinstance(m, AIMessage)), None)
    if last is not None and last.text.strip() and not silence(turn):
        lines.append(Message(role="assistant", text=last.text.strip(), at=now, event_seq=claim.seq))
    return tuple(lines)


def waits(interrupts: Iterable[Interrupt]) -> tuple[WaitRequest, ...]:
    return tuple(_wait(interrupt.id, interrupt.value) for interrupt in interrupts)


def _wait(id: str, value: dict[str, Any]) -> WaitRequest:
    return WaitRequest(
        id=id,
        kind=value["kind"],
        title=value.get("title") or _title(value),
        tool=value.get("tool", ""),
        args=value.get("args", {}),
        digest=value.get("digest", ""),
        agent=value.get("agent", "main"),
        schema=value.get("schema", {}),
    )


def _title(value: dict[str, Any]) -> str:
    args = ", ".join(
        f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in value.get("args", {}).items()
    )
    short = args if len(args) <= ARGS_LIMIT else args[: ARGS_LIMIT - 1] + "…"
    return f"May I run {value.get('tool')}({short})?"
