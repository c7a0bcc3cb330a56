"""The HTTP server: bound before anything else starts, patient within limits, closed port first."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from wakeful.config import split_bind
from wakeful.errors import PortTaken, Refused
from wakeful.web.app import App

HEADER_SECONDS = (
    10.0  # from the first byte of a request, or from the connection, to the end of its headers
)
HEADER_BYTES = 32_768
KEEP_ALIVE_SECONDS = 30
GRACE_SECONDS = 5  # requests that are on their way may finish
CONNECTIONS = 512
BACKLOG = 1024
LATE = b'{"error":"The request did not arrive in time; send it again, faster."}'
SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(LATE), LATE)
)


class PatientProtocol(H11Protocol):
    """HTTP/1.1, but a request whose headers do not arrive in time is answered 408 and cut off."""

    header_seconds = HEADER_SECONDS
    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch(True)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch(self._in_headers())

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch(self._in_headers())

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch(False)
        super().connection_lost(exc)

    def _in_headers(self) -> bool:
        return self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])

    def _watch(self, incomplete: bool) -> None:
        if incomplete and self._alarm is None:
            self._alarm = self.loop.call_later(self.header_seconds, self._too_slow)
        elif not incomplete and self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _too_slow(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(SLOW)
            self.transport.close()


class _Uvicorn(uvicorn.Server):
    """Leaves the signals to the service, and sleeps instead of ticking."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.closing = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        await self.closing.wait()

    def close_port(self) -> None:
        for server in getattr(self, "servers", ()):
            server.close()


@dataclass(frozen=True, slots=True)
class Server:
    """A listener that runs."""

    url: str
    port: int
    app: App
    _uvicorn: _Uvicorn

    def close_port(self) -> None:
        """Take no more connections; what is under way goes on."""
        self._uvicorn.close_port()


@asynccontextmanager
async def serve(
    app: App, bind: str, *, header_seconds: float = HEADER_SECONDS
) -> AsyncIterator[Server]:
    """Listen at `bind`, or raise PortTaken. On leaving, requests under way may finish."""
    sock = open_socket(bind)
    engine = _Uvicorn(_config(app, header_seconds))
    task = asyncio.create_task(engine.serve([sock]), name=f"http {bind}")
    try:
        while not engine.started:  # two turns of the loop: it binds nothing any more
            if task.done():
                task.result()
            await asyncio.sleep(0)
        yield Server(_url(sock), sock.getsockname()[1], app, engine)
    finally:
        engine.close_port()
        app.closing.set()
        engine.closing.set()
        await task


def _config(app: App, header_seconds: float) -> uvicorn.Config:
    protocol = type("Protocol", (PatientProtocol,), {"header_seconds": header_seconds})
    options: dict[str, Any] = {"http": protocol, "ws": "none", "lifespan": "off"}
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=HEADER_BYTES,
        limit_concurrency=CONNECTIONS,
        backlog=BACKLOG,
        **options,
    )


def open_socket(bind: str) -> socket.socket:
    """A bound socket, listening from now on."""
    host, port = split_bind(bind)
    try:
        info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.socket(*info[:3])  # with its protocol: asyncio sets TCP_NODELAY by it
    except OSError as error:
        raise Refused(f"[server] bind = {bind!r} cannot be used: {error}") from None
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(info[4])
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(bind) from None
        raise Refused(f"[server] bind = {bind!r} cannot be used: {error}") from None
    return sock


def _url(sock: socket.socket) -> str:
    host, port = str(sock.getsockname()[0]), int(sock.getsockname()[1])
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
