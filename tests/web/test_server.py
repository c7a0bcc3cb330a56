"""The real server on a real port, and clients that behave badly."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.web.conftest import TOKEN, Site
from wakeful.errors import PortTaken, Refused
from wakeful.events import Accepted, Event
from wakeful.web import Server, serve
from wakeful.web.server import open_socket

SOON = 10.0  # seconds; a busy machine
REQUEST = f"POST /api/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n"


@pytest.fixture
async def server(site: Site) -> AsyncIterator[Server]:
    app = site.build(body_seconds=0.3)
    async with serve(app, "127.0.0.1:0", header_seconds=0.3) as server:
        yield server


@asynccontextmanager
async def connection(
    server: Server,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        async with asyncio.timeout(SOON):
            yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def talk(server: Server, *parts: bytes) -> bytes:
    """Send what is given, then read until the other side closes."""
    async with connection(server) as (reader, writer):
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await reader.read()


async def peek(reader: asyncio.StreamReader) -> bytes:
    """What has arrived already."""
    try:
        async with asyncio.timeout(0.001):
            return await reader.read(1000)
    except TimeoutError:
        return b""


async def test_a_request_goes_round(server: Server) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:
        for _ in range(3):
            assert (await client.post("/api/messages", json={"text": "hi"})).status_code == 202
        answer = await client.get("/api/threads")
    assert len(answer.json()["threads"]) == 3
    assert "server" not in answer.headers


@pytest.mark.parametrize("head", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "])
async def test_W9_slow_headers_are_a_408(server: Server, head: bytes) -> None:
    answer = await talk(server, head)
    status, _, body = answer.partition(b"\r\n\r\n")
    assert status.startswith(b"HTTP/1.1 408 ")
    assert b"content-length: %d" % len(body) in status and json.loads(body)["error"]


async def test_W9_slow_headers_of_a_second_request_are_a_408(server: Server) -> None:
    first = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    answer = await talk(server, first + b"GET /hea")
    assert answer.startswith(b"HTTP/1.1 200 ") and b"HTTP/1.1 408 " in answer


async def test_W9_a_slow_body_is_a_408(server: Server) -> None:
    answer = await talk(server, f"{REQUEST}content-length: 20\r\n\r\n{{".encode())
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer.lower()


async def test_W9_an_endless_body_is_a_413_and_memory_stays_flat(server: Server) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sent, chunk = 0, b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    answer = b""
    async with connection(server) as (reader, writer):
        writer.write(f"{REQUEST}transfer-encoding: chunked\r\n\r\n".encode())
        with suppress(ConnectionError):  # cut off: that is the point
            while sent < 1_000_000_000 and not answer:
                writer.write(chunk)
                await writer.drain()
                sent += 0x10000
                answer = await peek(reader)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert sent < 20_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # kB


async def test_W9_a_short_too_large_body_gets_to_see_its_413(server: Server) -> None:
    body = b"x" * 2_000_000
    head = f"{REQUEST}content-length: {len(body)}\r\n\r\n".encode()
    assert (await talk(server, head, body)).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "request_line",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_refused(server: Server, request_line: bytes) -> None:
    answer = await talk(server, request_line)
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 421 "))


async def test_W9_endless_headers_are_cut_off(server: Server) -> None:
    async with connection(server) as (_, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ")
        with pytest.raises(ConnectionError):
            for _ in range(1000):
                writer.write(b"y" * 65_536)
                await writer.drain()


async def test_a_websocket_is_declined(server: Server) -> None:
    head = b"GET /api/status HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade, close\r\n"
    answer = await talk(server, head + b"upgrade: websocket\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 401 ")


async def test_P15_a_taken_port_is_a_sentence(site: Site, server: Server) -> None:
    with pytest.raises(PortTaken, match=f"127.0.0.1:{server.port} is taken"):
        async with serve(site.app, f"127.0.0.1:{server.port}"):
            pass


def test_small_answers_are_not_held_back() -> None:
    with open_socket("127.0.0.1:0") as listener:
        assert listener.proto == socket.IPPROTO_TCP  # asyncio sets TCP_NODELAY by it


async def test_an_address_that_is_not_ours_is_a_sentence(site: Site) -> None:
    with pytest.raises(Refused, match="cannot be used"):
        async with serve(site.app, "203.0.113.7:7777"):
            pass


async def test_the_port_closes_first_and_requests_finish(site: Site) -> None:
    entered, go = asyncio.Event(), asyncio.Event()
    accept = site.host.accept

    async def slow(event: Event) -> Accepted:
        entered.set()
        await go.wait()
        return await accept(event)

    site.host.accept = slow  # type: ignore[method-assign]
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(headers=headers) as client:
        async with serve(site.app, "127.0.0.1:0") as server:
            url = f"{server.url}/api/messages"
            under_way = asyncio.create_task(client.post(url, json={"text": "hi"}))
            await entered.wait()
            server.close_port()
            with pytest.raises(ConnectionError):
                await asyncio.open_connection("127.0.0.1", server.port)
            go.set()
        assert (await under_way).status_code == 202


LIMITED = """
import asyncio, pathlib, resource, sys
from tests.web.conftest import open_site
from wakeful.web import serve

async def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    async with open_site(pathlib.Path(sys.argv[1])) as site:
        async with serve(site.app, "127.0.0.1:0", header_seconds=0.5) as server:
            print(server.port, flush=True)
            await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


def test_P15_without_descriptors_it_recovers(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=root, text=True, **pipes) as child:  # type: ignore[call-overload]
        assert child.stdout is not None and child.stdin is not None
        port = int(child.stdout.readline())
        crowd = [socket.create_connection(("127.0.0.1", port)) for _ in range(80)]
        for one in crowd:
            one.close()
        answer = httpx.get(f"http://127.0.0.1:{port}/health", timeout=30, trust_env=False)
        assert answer.status_code == 200
        child.stdin.close()
        assert child.wait(30) == 0
