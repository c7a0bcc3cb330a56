from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
from httpx_sse import ServerSentEvent, aconnect_sse

from tests.web.conftest import TOKEN, Site
from wakeful.events import Update
from wakeful.web import Server, serve

SOON = 10.0  # seconds; a busy machine


def reader(server: Server) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(base_url=server.url, headers=headers)


async def read(client: httpx.AsyncClient, event: int = 1, last: str = "") -> list[ServerSentEvent]:
    headers = {"last-event-id": last} if last else {}
    url = f"/api/events/{event}/stream"
    async with aconnect_sse(client, "GET", url, headers=headers) as source:
        return [frame async for frame in source.aiter_sse()]


async def test_a_stream_shows_what_happens_and_ends(site: Site, client: httpx.AsyncClient) -> None:
    await client.post("/api/messages", json={"text": "hi"})
    site.host.kept.script[1] = [
        ("p1.1", Update(kind="text", event_seq=1, text="Hel\nlo")),
        ("p1.2", Update(kind="tool", event_seq=1, text="refund", call_id="c1")),
        ("p1.3", Update(kind="state", event_seq=1, text="done")),
    ]
    frames = await read(client)
    assert [(one.event, one.id) for one in frames] == [
        ("text", "p1.1"),
        ("tool", "p1.2"),
        ("state", "p1.3"),
        ("end", "p1.3"),
    ]
    assert frames[0].json() == {
        "kind": "text",
        "event": 1,
        "agent": "main",
        "text": "Hel\nlo",
        "call": "",
        "detail": "",
    }


async def test_the_last_id_is_handed_on_and_nonsense_is_not(
    site: Site, client: httpx.AsyncClient
) -> None:
    await client.post("/api/messages", json={"text": "hi"})
    assert await read(client, last="p1.7") == []
    assert site.host.kept.after == "p1.7"
    for odd in ("p1", "x" * 500 + ".1", "é.1", "p1.-1", "a b.1"):
        headers = [(b"last-event-id", odd.encode())]
        assert (await client.get("/api/events/1/stream", headers=headers)).status_code == 200
        assert site.host.kept.after is None


async def test_a_stream_ends_with_the_daemon_and_cleans_up(site: Site) -> None:
    begun, cleaned = asyncio.Event(), asyncio.Event()

    async def endless(seq: int, *, after: str | None = None) -> AsyncIterator[tuple[str, Update]]:
        try:
            yield "p1.1", Update(kind="text", event_seq=seq, text="…")
            begun.set()
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    site.host.kept.updates = endless  # type: ignore[method-assign]
    frames: list[ServerSentEvent] = []
    async with serve(site.app, "127.0.0.1:0") as server, reader(server) as client:
        await client.post("/api/messages", json={"text": "hi"})
        reading = asyncio.create_task(_collect(client, frames))
        async with asyncio.timeout(SOON):
            await begun.wait()
        server.app.closing.set()
        async with asyncio.timeout(SOON):
            await reading
            await cleaned.wait()
    assert [one.event for one in frames] == ["text"]  # no `end`: the reader comes back


async def _collect(client: httpx.AsyncClient, frames: list[ServerSentEvent]) -> None:
    frames += await read(client)


async def test_a_reader_that_hangs_up_is_forgotten(site: Site) -> None:
    cleaned = asyncio.Event()

    async def endless(seq: int, *, after: str | None = None) -> AsyncIterator[tuple[str, Update]]:
        try:
            yield "p1.1", Update(kind="text", event_seq=seq, text="…")
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    site.host.kept.updates = endless  # type: ignore[method-assign]
    async with serve(site.app, "127.0.0.1:0") as server, reader(server) as client:
        await client.post("/api/messages", json={"text": "hi"})
        async with aconnect_sse(client, "GET", "/api/events/1/stream") as source:
            async for _ in source.aiter_sse():
                break
        async with asyncio.timeout(SOON):
            await cleaned.wait()
