"""A tool of ours, loaded as every plug is, and the real host on a real store to call it with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.service.fakes import HandClock, event, rows, store_at
from wakeful.config import Settings
from wakeful.plugs import Folder
from wakeful.service.artefacts import Artefacts
from wakeful.service.host import Desk, PlugHost
from wakeful.service.updates import Updates
from wakeful.service.view import LiveView
from wakeful.store import Store
from wakeful.tool import Call


def load(folder: Path, name: str) -> Callable[..., Any]:
    """The function of one of our tools."""
    snapshot = Folder(folder, Settings(model="rehearsal")).scan()
    return next(plug.function for plug in snapshot.tools if plug.name == name)


@dataclass
class Place:
    store: Store
    host: PlugHost
    seq: int

    def call(self, key: str = "k1", **more: Any) -> Call:
        values: dict[str, Any] = {
            "idempotency_key": key,
            "thread_key": "console/a",
            "event_seq": self.seq,
            "principal": "console:operator",
            "address": "console:a",
            "untrusted": False,
            "host": self.host,
        }
        return Call(**values | more)

    async def memory(self, owner: str) -> list[str]:
        return [row.text for row in await self.store.memory(owner)]

    async def outbox(self) -> list[dict[str, Any]]:
        return await rows(
            self.store, "SELECT address, ordinal, state, thread_key FROM outbox ORDER BY id"
        )


@asynccontextmanager
async def place(
    folder: Path, channels: tuple[str, ...] = ("console", "ops")
) -> AsyncIterator[Place]:
    clock = HandClock()
    async with store_at(folder, clock) as store:
        updates = Updates(store.event, process="test")
        desk = Desk(
            store=store,
            clock=clock,
            view=LiveView(store.view, updates, _nothing),
            artefacts=Artefacts(folder / "artefacts"),
            wake=store.work.set,
            post=store.mail.set,
            stop=_never,
            tidy=_nothing,
            mount=lambda *_, **__: None,
            addresses=lambda: channels,
            settings=dict,
        )
        seq = (await store.accept(event("hello"))).seq
        yield Place(store, PlugHost("tools", desk), seq)


async def _never(seq: int) -> bool:
    return False


async def _nothing() -> dict[str, Any]:
    return {}
