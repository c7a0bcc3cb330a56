from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Scope

from tests.web.conftest import TOKEN, Site
from wakeful.web.limits import BODY_BYTES, Body


async def pieces(count: int, size: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * size


async def test_W9_a_body_that_announces_too_much_is_not_read(client: httpx.AsyncClient) -> None:
    headers = {"content-length": str(10**9)}
    answer = await client.post("/api/messages", content=b"", headers=headers)
    assert answer.status_code == 413
    assert answer.headers["connection"] == "close"


async def test_W9_a_chunked_body_is_cut_off(client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/messages", content=pieces(100, BODY_BYTES // 10))
    assert answer.status_code == 413
    assert "1,000,000 bytes" in answer.json()["error"]


async def test_a_body_of_the_limit_is_read(client: httpx.AsyncClient) -> None:
    text = json.dumps({"text": "x"}).ljust(BODY_BYTES)
    assert (await client.post("/api/messages", content=text)).status_code == 202
    assert (await client.post("/api/messages", content=text + " ")).status_code == 413


def feed(*messages: Message) -> Body:
    left = list(messages)

    async def receive() -> Message:
        if left:
            return left.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    return Body(receive, limit=10, seconds=0.05)


async def test_W9_a_body_that_does_not_come_is_a_408() -> None:
    body = feed({"type": "http.request", "body": b"x", "more_body": True})
    await body.receive()
    with pytest.raises(HTTPException) as caught:
        await body.receive()
    assert caught.value.status_code == 408


async def test_once_the_body_is_here_there_is_no_hurry() -> None:
    body = feed({"type": "http.request", "body": b"x", "more_body": False})
    await body.receive()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await body.receive()


async def test_lingering_ends() -> None:
    more = {"type": "http.request", "body": b"x" * 3_000_000, "more_body": True}
    body = feed(more, more, more)
    await body.linger()


async def test_W9_a_slow_body_gets_its_408_over_asgi(site: Site) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    app = site.build(body_seconds=0.05)
    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope: Scope = {"type": "http", "method": "POST", "path": "/api/messages", "headers": headers}
    scope.update(scheme="http", query_string=b"", root_path="")
    await app(scope, receive, send)
    assert sent[0]["status"] == 408
