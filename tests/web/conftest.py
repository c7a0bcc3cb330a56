"""The operator's application on a real store, without an agent behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.fakes import HandClock
from wakeful.config import Settings, load
from wakeful.events import Claim, Done, Event, Message, Outgoing, Parked, WaitRequest
from wakeful.host import Host
from wakeful.secrets import open_secrets
from wakeful.service.core import Core
from wakeful.store import Store, open_store
from wakeful.web import Auth, Mounts, build_app
from wakeful.web.app import App

TOKEN = "t" * 43
BASE = "http://127.0.0.1:7777"


class Site:
    """What the service puts around the web, up to the agent; a test plays the worker itself."""

    def __init__(self, path: Path, settings: Settings, store: Store, clock: HandClock) -> None:
        self.clock, self.store = clock, store
        self.core = Core(path, settings, store, open_secrets(path, settings.secrets), clock)
        self.host: Host = self.core.host("console")
        self.mounts: Mounts = self.core.mounts
        self.auth = Auth(TOKEN, clock=clock)
        self.app = self.build()

    def build(self, **options: Any) -> App:
        return build_app(self.host, auth=self.auth, mounts=self.mounts, **options)

    def client(self, app: App | None = None, *, token: str | None = TOKEN) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        transport = httpx.ASGITransport(app or self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)

    async def events(self) -> list[Event]:
        """All that was accepted, in order."""
        rows = await self.store.view.runs(limit=1000)
        found = [await self.store.view.input_of(row["event"]) for row in reversed(rows)]
        return [event for event in found if event is not None]

    async def ran(self, text: str, thread: str, answer: str = "", **said: str) -> Claim:
        """One event that came in and was answered, by a tool as well when `said` has its words."""
        claim = await self.claimed(text, thread)
        spoken = [
            Message(role="tool", text=words, at=self.clock.now(), event_seq=claim.seq, name=name)
            for name, words in said.items()
        ]
        spoken.append(
            Message(role="assistant", text=answer, at=self.clock.now(), event_seq=claim.seq)
        )
        reply = Outgoing(ordinal="final/0", address=claim.event.address, text=answer)
        await self.store.finish(claim, Done(replies=(reply,), messages=tuple(spoken)))
        return claim

    async def asks(self, id: str, thread: str = "console/asks", **fields: Any) -> Claim:
        """A run that stopped for a question."""
        claim = await self.claimed("pay", f"{thread}-{len(id)}{id[:20]}")
        given = {"title": "May I pay?", "tool": "refund", "digest": "d1", **fields}
        given = {"kind": "approval", **given}
        await self.store.park(claim, Parked(waits=(WaitRequest(id=id, **given),)))
        return claim

    async def claimed(self, text: str, thread: str) -> Claim:
        source = thread.partition("/")[0]
        accepted = await self.core.host(source).accept(
            Event(
                source=source,
                keys=(f"{source}/{self.host.new_id()}",),
                principal=f"{source}:someone",
                thread_key=thread,
                text=text,
                channel="console",
                address="console:x",
            )
        )
        for claim in await self.store.claim(100):
            if claim.seq == accepted.seq:
                return claim
            await self.store.release(claim)
        raise AssertionError(f"event {accepted.seq} could not be claimed")


@asynccontextmanager
async def open_site(path: Path) -> AsyncIterator[Site]:
    (path / "agent.toml").write_text('model = "rehearsal"\n')
    (path / ".wakeful").mkdir(mode=0o700)
    clock = HandClock()
    url = f"sqlite:///{path}/.wakeful/state.db"
    async with open_store(url, clock=clock, owner="test") as store:
        yield Site(path, load(path), store, clock)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as site:
        yield site


@pytest.fixture
async def client(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with site.client() as client:
        yield client


@pytest.fixture
async def stranger(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with site.client(token=None) as client:
        yield client
