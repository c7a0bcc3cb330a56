"""A real server on loopback, and a fetcher for which it is the whole world."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from wakeful.outbound.fetch import Fetcher


async def inside(host: str, port: int) -> Sequence[str]:
    """A name service that knows the names inside, and answers numbers with themselves."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        return ["127.0.0.1"]


class Site:
    """A real server on loopback that answers each path with what a test wrote for it."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}
        self.asked: list[tuple[str, str]] = []  # host and path
        self.port = 0
        self.open: set[asyncio.Task[None] | None] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(asyncio.current_task())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ")[1]
        host = next(line[6:] for line in head.split("\r\n") if line.lower().startswith("host: "))
        self.asked.append((host, path))
        writer.write(self.answers.get(path, answer(b"", status="404 Gone Fishing")))
        if path == "/slow":
            await reader.read()  # until the other side gives up
        writer.close()
        with suppress(ConnectionError):  # the other side may be gone already
            await writer.wait_closed()

    def fetcher(self, **more: object) -> Fetcher:
        values: dict[str, object] = {
            "resolve": inside,
            "allows": lambda ip: ip == "127.0.0.1",  # this one server plays the world
            "ports": (self.port,),
        }
        return Fetcher(**values | more)  # type: ignore[arg-type]

    def url(self, path: str, host: str = "site.example") -> str:
        return f"http://{host}:{self.port}{path}"


def answer(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/plain") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def onward(to: str) -> bytes:
    return answer(b"", f"Location: {to}", status="302 Found")


@asynccontextmanager
async def site(secure: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    made = Site()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=secure)
    async with server:
        made.port = server.sockets[0].getsockname()[1]
        yield made
        await asyncio.gather(*(task for task in made.open if task))
