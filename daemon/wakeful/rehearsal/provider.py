"""A model provider on loopback: real HTTP and real event streams, answered from a script.

async with provider(script) as double:
    build_model(... base_url=f"{double.url}/v1" ...)
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from wakeful.rehearsal.script import Fail, Failing, Move, Script
from wakeful.rehearsal.wire import Anthropic, OpenAI, Wire

STATUS: dict[Failing, int] = {
    "rate-limit": 429,
    "outage": 503,
    "auth": 401,
    "bad-request": 400,
    "overflow": 400,
}
BABBLE_PAUSE = 0.002  # seconds between two pieces of an answer without an end


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived."""

    path: str
    at: float  # monotonic seconds
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(slots=True)
class Provider:
    """What was asked so far; `script` may be replaced while it runs."""

    script: Script
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)  # of one more request
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    @property
    def app(self) -> Starlette:
        routes = [
            Route("/v1/chat/completions", self._route(OpenAI()), methods=["POST"]),
            Route("/v1/messages", self._route(Anthropic()), methods=["POST"]),
        ]
        return Starlette(routes=routes)

    def _route(self, wire: Wire) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            body = await request.json()
            headers = dict(request.headers)
            async with self.news:
                self.asked.append(Asked(request.url.path, time.monotonic(), headers, body))
                self.news.notify_all()
            move = self.script.next(wire.read(body))
            await asyncio.sleep(move.wait)
            return await self._respond(move, wire, streamed=bool(body.get("stream")))

        return answer

    async def _respond(self, move: Move, wire: Wire, *, streamed: bool) -> Response:
        fail = move.fail
        if fail and fail.how == "hang":
            await asyncio.Event().wait()
        if fail and fail.how in STATUS:
            body = wire.error(fail.how, f"the script plays this fault: {fail.how}")
            return JSONResponse(body, STATUS[fail.how], headers=self._retry_after(fail))
        if fail and fail.how == "endless" and not streamed:
            return StreamingResponse(_blanks(), media_type="application/json")
        if streamed:
            return StreamingResponse(_sent(move, wire), media_type="text/event-stream")
        return JSONResponse(wire.whole(move))

    def _retry_after(self, fail: Fail) -> dict[str, str]:
        if fail.after is None:
            return {}
        if not fail.as_date:
            return {"retry-after": f"{fail.after:g}"}
        until = self.now() + timedelta(seconds=fail.after)
        return {"retry-after": format_datetime(until, usegmt=True)}


@asynccontextmanager
async def provider(script: Script) -> AsyncIterator[Provider]:
    """Serve a script as a provider on a free port of loopback."""
    double = Provider(script)
    async with serving(double.app) as url:
        double.url = url
        yield double


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """Serve an ASGI application on a free port of loopback, without its own signal handling."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", access_log=False)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        for task in server.server_state.tasks:  # an answer without an end would hold us up
            task.cancel()
        server.force_exit = True
        await server.shutdown(sockets=[listener])


async def _sent(move: Move, wire: Wire) -> AsyncIterator[str]:
    pause = BABBLE_PAUSE if move.fail and move.fail.how == "endless" else 0
    for event in wire.stream(move):
        await asyncio.sleep(pause)
        yield event


async def _blanks() -> AsyncIterator[bytes]:
    """A JSON text that is always about to begin."""
    while True:
        await asyncio.sleep(BABBLE_PAUSE)
        yield b" "
