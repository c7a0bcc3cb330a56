"""Between the script's plain values and LangChain's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import overload

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk

from wakeful.rehearsal.script import Move, Role, Said
from wakeful.rehearsal.wire import cut_off, pieces, spoken

CHARACTERS_PER_TOKEN = 4
ROLES: dict[str, Role] = {"human": "human", "ai": "ai", "AIMessageChunk": "ai", "tool": "tool"}


class Conversation(Sequence[Said]):
    """Messages as the script sees them, each converted only when it is looked at."""

    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self._messages = [message for message in messages if message.type in ROLES]

    def __len__(self) -> int:
        return len(self._messages)

    @overload
    def __getitem__(self, at: int) -> Said: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Said]: ...
    def __getitem__(self, at: int | slice) -> Said | Sequence[Said]:
        if isinstance(at, slice):
            return [_said(message) for message in self._messages[at]]
        return _said(self._messages[at])


def answer(move: Move, messages: Sequence[BaseMessage]) -> AIMessage:
    """The whole answer at once."""
    return AIMessage(
        content=spoken(move),
        tool_calls=[{"name": c.name, "args": dict(c.args), "id": c.id} for c in move.calls],
        response_metadata=_metadata(move),
        usage_metadata=_usage(move, messages),
    )


def chunks(move: Move, messages: Sequence[BaseMessage]) -> Iterator[AIMessageChunk]:
    """The same answer, piece by piece."""
    for piece in pieces(move):
        yield AIMessageChunk(content=piece)
    for n, call in enumerate(move.calls):
        args = json.dumps(call.args, ensure_ascii=False)
        chunk = tool_call_chunk(name=call.name, args=args, id=call.id, index=n)
        yield AIMessageChunk(content="", tool_call_chunks=[chunk])
    yield AIMessageChunk(
        content="",
        response_metadata=_metadata(move),
        usage_metadata=_usage(move, messages),
        chunk_position="last",
    )


def _said(message: BaseMessage) -> Said:
    # A summary or a pinned skill stands in for other messages; nobody said it.
    stand_in = message.type == "human" and "lc_source" in message.additional_kwargs
    role = "tool" if stand_in else ROLES[message.type]
    return Said(role, message.text, message.id or "")


def _metadata(move: Move) -> dict[str, str]:
    finish = "length" if cut_off(move) else "tool_calls" if move.calls else "stop"
    return {"finish_reason": finish, "model_name": "rehearsal"}


def _usage(move: Move, messages: Sequence[BaseMessage]) -> UsageMetadata:
    read = sum(len(m.content) for m in messages if isinstance(m.content, str))
    written = len(move.text) + sum(len(str(call.args)) for call in move.calls)
    tokens_in, tokens_out = (1 + n // CHARACTERS_PER_TOKEN for n in (read, written))
    return UsageMetadata(
        input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out
    )
