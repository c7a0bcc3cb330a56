"""Between the script's plain values and LangChain's messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import overload

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk

from wakeful.rehearsal.script import Move, Role, Said

PIECE = re.compile(r"\S+\s*|\s+")
CHARACTERS_PER_TOKEN = 4
ROLES: dict[str, Role] = {"human": "human", "ai": "ai", "AIMessageChunk": "ai", "tool": "tool"}
BABBLE = "and so on "


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
    text, finish = _ending(move)
    return AIMessage(
        content=text,
        tool_calls=[{"name": c.name, "args": dict(c.args), "id": c.id} for c in move.calls],
        response_metadata={"finish_reason": finish, "model_name": "rehearsal"},
        usage_metadata=_usage(move, messages),
    )


def chunks(move: Move, messages: Sequence[BaseMessage]) -> Iterator[AIMessageChunk]:
    """The same answer, piece by piece."""
    text, finish = _ending(move)
    endless = repeat(BABBLE) if move.fail and move.fail.how == "endless" else ()
    for piece in chain(PIECE.findall(text), endless):
        yield AIMessageChunk(content=piece)
    for n, call in enumerate(move.calls):
        args = json.dumps(call.args, ensure_ascii=False)
        chunk = tool_call_chunk(name=call.name, args=args, id=call.id, index=n)
        yield AIMessageChunk(content="", tool_call_chunks=[chunk])
    yield AIMessageChunk(
        content="",
        response_metadata={"finish_reason": finish, "model_name": "rehearsal"},
        usage_metadata=_usage(move, messages),
        chunk_position="last",
    )


def _said(message: BaseMessage) -> Said:
    # A summary or a pinned skill stands in for other messages; nobody said it.
    stand_in = message.type == "human" and "lc_source" in message.additional_kwargs
    role = "tool" if stand_in else ROLES[message.type]
    return Said(role, message.text, message.id or "")


def _ending(move: Move) -> tuple[str, str]:
    how = move.fail.how if move.fail else None
    if how == "empty":
        return "", "stop"
    if how == "cut-off":
        text = move.text or "This answer breaks off in the middle"
        return text[: len(text) // 2], "length"
    return move.text, "tool_calls" if move.calls else "stop"


def _usage(move: Move, messages: Sequence[BaseMessage]) -> UsageMetadata:
    read = sum(len(m.content) for m in messages if isinstance(m.content, str))
    written = len(move.text) + sum(len(str(call.args)) for call in move.calls)
    tokens_in, tokens_out = (1 + n // CHARACTERS_PER_TOKEN for n in (read, written))
    return UsageMetadata(
        input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out
    )
