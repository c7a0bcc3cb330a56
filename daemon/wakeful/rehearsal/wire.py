"""What two providers send over the wire: requests as plain values, moves as their bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Protocol

from wakeful.rehearsal.script import Call, Move, Role, Said

PIECE = re.compile(r"\S+\s*|\s+")
BABBLE = "and so on "
TOKENS_IN, TOKENS_OUT = 12, 7  # invented, and always the same


class Wire(Protocol):
    """One provider's dialect."""

    def read(self, body: Mapping[str, Any]) -> list[Said]: ...
    def whole(self, move: Move) -> dict[str, Any]: ...
    def stream(self, move: Move) -> Iterator[str]: ...
    def error(self, kind: str, message: str) -> dict[str, Any]: ...


class OpenAI:
    """Chat completions."""

    def read(self, body: Mapping[str, Any]) -> list[Said]:
        roles: dict[str, Role] = {"user": "human", "assistant": "ai", "tool": "tool"}
        return [
            Said(roles[message["role"]], _text(message.get("content")))
            for message in body["messages"]
            if message["role"] in roles
        ]

    def whole(self, move: Move) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": spoken(move) or None}
        if move.calls:
            message["tool_calls"] = [self._call(call) for call in move.calls]
        choice = {"index": 0, "message": message, "finish_reason": self._finish(move)}
        return self._head("chat.completion") | {"choices": [choice], "usage": self._usage()}

    def stream(self, move: Move) -> Iterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})
        for piece in pieces(move):
            yield self._chunk({"content": piece})
        for n, call in enumerate(move.calls):
            yield self._chunk({"tool_calls": [{"index": n, **self._call(call)}]})
        if hangs_up(move):
            return
        yield self._chunk({}, self._finish(move))
        usage = self._head("chat.completion.chunk") | {"choices": [], "usage": self._usage()}
        yield f"data: {json.dumps(usage)}\n\n"
        yield "data: [DONE]\n\n"

    def error(self, kind: str, message: str) -> dict[str, Any]:
        code = "context_length_exceeded" if kind == "overflow" else kind
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def _chunk(self, delta: Mapping[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = self._head("chat.completion.chunk") | {"choices": [choice]}
        return f"data: {json.dumps(chunk)}\n\n"

    def _head(self, what: str) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": what, "created": 1, "model": "rehearsal"}

    def _call(self, call: Call) -> dict[str, Any]:
        function = {"name": call.name, "arguments": json.dumps(call.args)}
        return {"id": call.id, "type": "function", "function": function}

    def _finish(self, move: Move) -> str:
        if cut_off(move):
            return "length"
        return "tool_calls" if move.calls else "stop"

    def _usage(self) -> dict[str, int]:
        total = TOKENS_IN + TOKENS_OUT
        return {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "total_tokens": total}


class Anthropic:
    """Messages."""

    def read(self, body: Mapping[str, Any]) -> list[Said]:
        return list(chain.from_iterable(self._said(message) for message in body["messages"]))

    def whole(self, move: Move) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": spoken(move)}] * bool(spoken(move))
        blocks += [self._call(call, dict(call.args)) for call in move.calls]
        return self._message() | {"content": blocks, "stop_reason": self._stop(move)}

    def stream(self, move: Move) -> Iterator[str]:
        yield self._event("message_start", message=self._message())
        block = {"type": "text", "text": ""}
        yield self._event("content_block_start", index=0, content_block=block)
        for piece in pieces(move):
            delta = {"type": "text_delta", "text": piece}
            yield self._event("content_block_delta", index=0, delta=delta)
        yield self._event("content_block_stop", index=0)
        for n, call in enumerate(move.calls, 1):
            yield self._event("content_block_start", index=n, content_block=self._call(call, {}))
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.args)}
            yield self._event("content_block_delta", index=n, delta=delta)
            yield self._event("content_block_stop", index=n)
        if hangs_up(move):
            return
        ending = {"stop_reason": self._stop(move), "stop_sequence": None}
        usage = {"output_tokens": TOKENS_OUT}
        yield self._event("message_delta", delta=ending, usage=usage)
        yield self._event("message_stop")

    def error(self, kind: str, message: str) -> dict[str, Any]:
        text = f"prompt is too long: {message}" if kind == "overflow" else message
        return {"type": "error", "error": {"type": f"{kind}_error", "message": text}}

    def _said(self, message: Mapping[str, Any]) -> Iterator[Said]:
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            if block["type"] == "tool_result":
                yield Said("tool", _text(block.get("content")))
        spoken_ = "".join(block["text"] for block in blocks if block["type"] == "text")
        if message["role"] == "assistant":
            yield Said("ai", spoken_)
        elif spoken_:
            yield Said("human", spoken_)

    def _message(self) -> dict[str, Any]:
        usage = {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT}
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "rehearsal"}
        return {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}

    def _call(self, call: Call, args: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "tool_use", "id": call.id, "name": call.name, "input": args}

    def _stop(self, move: Move) -> str:
        if cut_off(move):
            return "max_tokens"
        return "tool_use" if move.calls else "end_turn"

    def _event(self, kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def spoken(move: Move) -> str:
    """The words of a move, as far as its fault lets them through."""
    how = move.fail.how if move.fail else None
    if how == "empty":
        return ""
    if how in ("cut-off", "hang-up"):
        text = move.text or "This answer breaks off in the middle"
        return text[: len(text) // 2]
    return move.text


def pieces(move: Move) -> Iterator[str]:
    """The words in the pieces of a stream, which may have no end."""
    endless = move.fail is not None and move.fail.how == "endless"
    return chain(PIECE.findall(spoken(move)), repeat(BABBLE) if endless else ())


def cut_off(move: Move) -> bool:
    return move.fail is not None and move.fail.how == "cut-off"


def hangs_up(move: Move) -> bool:
    return move.fail is not None and move.fail.how == "hang-up"


def _text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(block.get("text", "") for block in content)
