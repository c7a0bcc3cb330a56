"""A conversation over a wire that is not always busy."""

from __future__ import annotations

import asyncio
from pathlib import Path

from wakeful.cli.conversation import Conversation
from wakeful.config import Settings

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
FRAMES = (
    b'id: a.1\nevent: text\ndata: {"kind": "text", "text": "Hel"}\n\n',
    b": ping - some time later\n\n",
    b'id: a.2\nevent: text\ndata: {"kind": "text", "text": "lo"}\n\n',
    b"event: end\ndata: {}\n\n",
)


async def heard(tmp_path: Path, *answers: bytes) -> list[str]:
    """What a chat is told when the daemon answers so, one connection after the other."""
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(left.pop(0))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    state = tmp_path / ".wakeful"
    state.mkdir()
    (state / "address").write_text(f"http://{host}:{port}")
    (state / "token").write_text("a-token-that-is-long-enough-to-be-one")
    (state / "token").chmod(0o600)
    async with server, Conversation(tmp_path, Settings(model="rehearsal")) as conversation:
        return [update.get("text", "lost") async for update in conversation.follow(1)]


async def test_a_ping_in_a_long_silence_is_no_update(tmp_path: Path) -> None:
    assert await heard(tmp_path, HEAD + b"".join(FRAMES)) == ["Hel", "lo"]


async def test_another_folder_s_daemon_at_our_address_is_waited_out(tmp_path: Path) -> None:
    stranger = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    assert await heard(tmp_path, stranger, HEAD + b"".join(FRAMES)) == ["lost", "Hel", "lo"]
