"""A chat-completions endpoint that answers at once, in a process of its own: not counted.

It speaks just enough of the protocol for the real client: one answer a request, streamed when
asked to; a request with HOLD in its last message is never answered. Run as
`python -m benchmarks.model_server`; it prints its port.
"""

from __future__ import annotations

import asyncio
import json
from itertools import count

ANSWER = "Noted, and thank you. " * 8
HOLD = "hold this thread"
_ids = count(1)


def _completion(body: dict[str, object]) -> bytes:
    usage = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140}
    head = {"id": f"chatcmpl-{next(_ids)}", "created": 0, "model": str(body.get("model", "bench"))}
    if not body.get("stream"):
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": ANSWER},
        }
        whole = head | {"object": "chat.completion", "choices": [choice], "usage": usage}
        return _response(json.dumps(whole).encode(), "application/json")
    kind = {"object": "chat.completion.chunk"}
    delta = {"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}
    stop = {"index": 0, "delta": {}, "finish_reason": "stop"}
    rows = [
        head | kind | {"choices": [delta]},
        head | kind | {"choices": [stop]},
        head | kind | {"choices": [], "usage": usage},
    ]
    lines = b"".join(b"data: " + json.dumps(row).encode() + b"\n\n" for row in rows)
    return _response(lines + b"data: [DONE]\n\n", "text/event-stream")


def _response(body: bytes, media_type: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = next(
                int(line.partition(":")[2])
                for line in head.split("\r\n")
                if line.startswith("content-length:")
            )
            body = json.loads(await reader.readexactly(length))
            if HOLD in json.dumps(body["messages"][-1]):
                await reader.read()  # until the client gives up
            writer.write(_completion(body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
