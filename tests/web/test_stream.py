from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx
from httpx_sse import ServerSentEvent, aconnect_sse

from tests.web.conftest import TOKEN, Site
from wakeful.events import Claim, Update, UpdateKind
from wakeful.web import Server, serve

SOON = 10.0  # seconds; a busy machine


def reader(server: Server) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(base_url=server.url, headers=headers)


async def read(client: httpx.AsyncClient) -> list[ServerSentEvent]:
    async with aconnect_sse(client, "GET", "/api/events/1/stream") as source:
        return [frame async for frame in source.aiter_sse()]


def told(kind: UpdateKind, text: str, event: int = 1, **more: str) -> Update:
    return Update(kind=kind, event_seq=event, text=text, **more)


class Reading:
    """A reader that notes what it gets, and says when it is there."""

    def __init__(self, client: httpx.AsyncClient, last: str = "") -> None:
        self.frames: list[ServerSentEvent] = []
        self.begun = asyncio.Event()
        self.task = asyncio.create_task(self._read(client, last))

    async def _read(self, client: httpx.AsyncClient, last: str) -> None:
        headers = {"last-event-id": last} if last else {}
        async with aconnect_sse(client, "GET", "/api/events/1/stream", headers=headers) as source:
            async for frame in source.aiter_sse():
                self.frames.append(frame)
                self.begun.set()

    async def there(self) -> None:
        async with asyncio.timeout(SOON):
            await self.begun.wait()

    async def ended(self) -> list[tuple[str, str]]:
        async with asyncio.timeout(SOON):
            await self.task
        return [(one.event, one.json().get("text", "")) for one in self.frames]


async def until(true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not become true")


async def forgotten(site: Site, claim: Claim) -> None:
    """Wait until nobody watches the event any more."""
    await until(lambda: site.core.updates.watch(claim) is None)


async def test_what_has_ended_is_told_at_once(site: Site, client: httpx.AsyncClient) -> None:
    await site.ran("hi", "console/a", "Hel\nlo")
    frames = await read(client)
    assert [(one.event, one.json().get("text")) for one in frames] == [
        ("reply", "Hel\nlo"),
        ("state", "done"),
        ("end", None),
    ]
    assert set(frames[0].json()) == {"kind", "event", "agent", "text", "call", "detail"}


async def test_a_stream_shows_what_happens_and_ends(site: Site) -> None:
    claim = await site.claimed("hi", "console/a")
    publish = site.core.updates.publish
    async with serve(site.app, "127.0.0.1:0") as server, reader(server) as client:
        reading = Reading(client)
        await reading.there()
        publish(told("text", "Hel"))
        publish(told("tool", "refund", call_id="c1"))
        publish(told("state", "done"))
        assert await reading.ended() == [
            ("state", "running"),
            ("text", "Hel"),
            ("tool", "refund"),
            ("state", "done"),
            ("end", ""),
        ]
        ids = [one.id.rpartition(".") for one in reading.frames]
        assert len({process for process, _, _ in ids}) == 1
        assert [int(n) for _, _, n in ids] == sorted(int(n) for _, _, n in ids)
    await forgotten(site, claim)


async def test_a_reader_goes_on_where_it_broke_off(site: Site) -> None:
    await site.claimed("hi", "console/a")
    publish = site.core.updates.publish
    async with serve(site.app, "127.0.0.1:0") as server, reader(server) as client:
        staying, leaving = Reading(client), Reading(client)
        await staying.there()
        await leaving.there()
        publish(told("text", "one"))
        await until(lambda: len(leaving.frames) == 2)
        leaving.task.cancel()
        publish(told("text", "two"))
        back = Reading(client, last=leaving.frames[-1].id)
        await back.there()
        publish(told("state", "done"))
        assert await back.ended() == [("text", "two"), ("state", "done"), ("end", "")]
        await staying.ended()


async def test_a_nonsense_id_gets_a_snapshot(site: Site, client: httpx.AsyncClient) -> None:
    await site.ran("hi", "console/a", "hello")
    for odd in ("p1", "x" * 500 + ".1", "é.1", "p1.-1", "a b.1", "p1.1"):
        headers = [(b"last-event-id", odd.encode())]
        answer = await client.get("/api/events/1/stream", headers=headers)
        assert answer.status_code == 200 and "hello" in answer.text


async def test_a_stream_ends_with_the_daemon_and_without_an_end(site: Site) -> None:
    claim = await site.claimed("hi", "console/a")
    async with serve(site.app, "127.0.0.1:0") as server, reader(server) as client:
        reading = Reading(client)
        await reading.there()
        server.app.closing.set()
        assert await reading.ended() == [("state", "running")]  # so the reader comes back
    await forgotten(site, claim)


async def test_a_reader_that_hangs_up_is_forgotten(site: Site) -> None:
    claim = await site.claimed("hi", "console/a")
    async with serve(site.app, "127.0.0.1:0") as server, reader(server) as client:
        reading = Reading(client)
        await reading.there()
        reading.task.cancel()
        await forgotten(site, claim)
