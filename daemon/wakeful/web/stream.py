"""Progress of one event as server-sent events."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import orjson
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from wakeful.events import ENDED, Update
from wakeful.host import View
from wakeful.web.shapes import update_json

PING_SECONDS = 15
SEND_SECONDS = 30.0  # a reader that takes nothing for so long is cut off
ID = re.compile(r"[A-Za-z0-9_-]{1,64}\.[0-9]{1,18}")


def event_stream(view: View, seq: int, request: Request) -> EventSourceResponse:
    """A snapshot, then what happens, then `end`; `Last-Event-ID` goes on where it broke off."""
    after = request.headers.get("last-event-id", "")
    updates = view.updates(seq, after=after if ID.fullmatch(after) else None)
    closing: asyncio.Event = request.scope["app"].closing
    frames = _frames(_until(closing, updates))
    return EventSourceResponse(frames, ping=PING_SECONDS, send_timeout=SEND_SECONDS, sep="\n")


async def _frames(
    updates: AsyncIterator[tuple[str, Update]],
) -> AsyncIterator[ServerSentEvent]:
    """Without an `end` the daemon went down, and the reader comes back with its last id."""
    async with aclosing(updates) as found:  # type: ignore[type-var]
        async for id, update in found:
            yield frame(id, update)
            if update.kind == "state" and update.text in ENDED:
                yield ServerSentEvent("{}", event="end", sep="\n")
                return


async def _until(
    closing: asyncio.Event, updates: AsyncIterator[tuple[str, Update]]
) -> AsyncIterator[tuple[str, Update]]:
    """The updates until they end, or the daemon closes."""
    shut = asyncio.ensure_future(closing.wait())
    step: asyncio.Future[tuple[str, Update] | None] | None = None
    try:
        while not closing.is_set():
            step = asyncio.ensure_future(_next(updates))
            await asyncio.wait({step, shut}, return_when=asyncio.FIRST_COMPLETED)
            item = step.result() if step.done() else None
            if item is None:
                return
            yield item
    finally:
        pending: list[asyncio.Future[Any]] = [shut, step] if step else [shut]
        for one in pending:
            one.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


async def _next(updates: AsyncIterator[tuple[str, Update]]) -> tuple[str, Update] | None:
    return await anext(updates, None)


def frame(id: str, update: Update) -> ServerSentEvent:
    data = orjson.dumps(update_json(update)).decode()
    return ServerSentEvent(data, event=update.kind, id=id, sep="\n")
