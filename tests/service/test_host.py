"""What a plug may ask, and what it may not, with the real store."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.service.fakes import event
from tests.service.test_opening import awake, ended, post
from wakeful.errors import Refused, Unknown
from wakeful.events import Event, Outgoing

Client = httpx.AsyncClient


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (event("x", source="slack"), "may not accept events for slack"),
        (event("x", keys=("slack/1",)), "begins with console/"),
        (event("x", keys=()), "begins with console/"),
        (event("x", principal=""), "needs a thread and a principal"),
    ],
)
async def test_a_plug_speaks_for_itself_only(agent: Path, wrong: Event, why: str) -> None:
    async with awake(agent) as (service, _):
        with pytest.raises(Refused, match=why):
            await service.core.host("console").accept(wrong)


async def test_sending_needs_a_channel_and_an_event_that_are_there(agent: Path) -> None:
    async with awake(agent) as (service, client):
        host = service.core.host("console")
        seq = await post(client, "hi")
        await ended(client, seq)
        for address, why in (("nowhere", "no address"), ("slack:#ops", "there is: console")):
            with pytest.raises(Refused, match=why):
                await host.send(Outgoing(ordinal="o", address=address, text="x"), event_seq=seq)
        good = Outgoing(ordinal="o", address="console:other", text="x", kind="message")
        with pytest.raises(Unknown):
            await host.send(good, event_seq=999)
        assert await host.send(good, event_seq=seq)
        assert not await host.send(good, event_seq=seq)


async def test_a_cursor_belongs_to_one_plug(agent: Path) -> None:
    async with awake(agent) as (service, _):
        mail, other = service.core.host("mail"), service.core.host("other")
        await mail.advance("INBOX", "17")
        assert await mail.cursor("INBOX") == "17" and await other.cursor("INBOX") is None


async def test_memory_and_artefacts_are_kept(agent: Path) -> None:
    async with awake(agent) as (service, client):
        host = service.core.host("console")
        seq = await post(client, "hi")
        await host.remember("console:operator", "likes tea", key="k1", event_seq=seq)
        await host.remember("console:operator", "likes tea", key="k1", event_seq=seq)
        rows = await service.core.store.memory("console:operator")
        assert [row.text for row in rows] == ["likes tea"]
        kept = await host.artefact(b"data", name="a.txt", media_type="text/plain")
        assert await host.read_artefact(kept.artefact) == b"data"
        assert host.addresses() == ["console"] and host.settings()["model"] == "rehearsal"
        assert host.new_id() != host.new_id() and host.now().tzinfo is not None


async def test_the_daemon_is_not_well_when_a_part_is_not(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with awake(agent) as (service, client):
        core = service.core
        assert (await client.get("/health")).status_code == 200
        core.file_limit = 1  # as if every descriptor were taken
        assert (await client.get("/health")).status_code == 503
        core.file_limit = 10**6
        assert core.worker is not None
        core.worker.alive = False
        assert (await client.get("/health")).status_code == 503
        assert (await client.get("/ready")).status_code == 503
        core.worker.alive = True
        assert (await client.get("/health")).status_code == 200
