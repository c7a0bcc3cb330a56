"""What plugs and pages may see: the store's rows, and the progress of what runs now."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from wakeful.events import Message, Update, Wait
from wakeful.service.updates import Updates
from wakeful.store import Views

Rows = list[dict[str, Any]]


class LiveView:
    """The store's view, with updates, and with what only the running daemon knows of its state."""

    def __init__(
        self, rows: Views, updates: Updates, facts: Callable[[], Awaitable[dict[str, Any]]]
    ) -> None:
        self._rows, self._updates, self._facts = rows, updates, facts

    async def threads(self, *, limit: int = 200, before: str | None = None) -> Rows:
        return await self._rows.threads(limit=limit, before=before)

    async def messages(
        self, thread_key: str, *, limit: int = 200, before: int | None = None
    ) -> list[Message]:
        return await self._rows.messages(thread_key, limit=limit, before=before)

    async def thread(self, thread_key: str) -> dict[str, Any] | None:
        return await self._rows.thread(thread_key)

    async def event(self, seq: int) -> dict[str, Any] | None:
        return await self._rows.event(seq)

    async def runs(self, *, limit: int = 50, state: str | None = None) -> Rows:
        return await self._rows.runs(limit=limit, state=state)

    async def run(self, seq: int) -> dict[str, Any] | None:
        return await self._rows.run(seq)

    async def waits(self, *, state: str | None = "open") -> list[Wait]:
        return await self._rows.waits(state=state)

    async def schedules(self) -> Rows:
        return await self._rows.schedules()

    async def effects(self, *, state: str | None = None, limit: int = 50) -> Rows:
        return await self._rows.effects(state=state, limit=limit)

    async def status(self) -> dict[str, Any]:
        return {**await self._rows.status(), **await self._facts()}

    def updates(self, seq: int, *, after: str | None = None) -> AsyncIterator[tuple[str, Update]]:
        return self._updates.stream(seq, after=after)
