"""A daemon that only remembers: what the web layer asks of it, and what it answers."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from wakeful.errors import AlreadyDecided, Stale, Unknown
from wakeful.events import (
    Accepted,
    Attachment,
    Decision,
    Event,
    Message,
    Outgoing,
    Update,
    Wait,
    WaitRequest,
)
from wakeful.host import View


class StubView:
    def __init__(self) -> None:
        self.rows: dict[int, dict[str, Any]] = {}
        self.said: dict[str, list[Message]] = {}
        self.asked: dict[str, Wait] = {}
        self.script: dict[int, list[tuple[str, Update]]] = {}
        self.after: str | None = None

    async def threads(self, *, limit: int = 200, before: str | None = None) -> list[dict[str, Any]]:
        return [{"key": key, "state": "idle", "text": key, "event": 1} for key in self.said][:limit]

    async def messages(
        self, thread_key: str, *, limit: int = 200, before: int | None = None
    ) -> list[Message]:
        return self.said.get(thread_key, [])[-limit:]

    async def thread(self, thread_key: str) -> dict[str, Any] | None:
        found = [row for row in await self.threads() if row["key"] == thread_key]
        return found[0] if found else None

    async def event(self, seq: int) -> dict[str, Any] | None:
        return self.rows.get(seq)

    async def runs(self, *, limit: int = 50, state: str | None = None) -> list[dict[str, Any]]:
        at = "2026-01-05T08:00:00.000Z"
        rows = [{"event": n, "text": "", "received_at": at, **r} for n, r in self.rows.items()]
        return rows[:limit]

    async def run(self, seq: int) -> dict[str, Any] | None:
        return self.rows.get(seq)

    async def waits(self, *, state: str | None = "open") -> list[Wait]:
        return [wait for wait in self.asked.values() if state in (None, wait.state)]

    async def schedules(self) -> list[dict[str, Any]]:
        return []

    async def status(self) -> dict[str, Any]:
        return {"ready": True}

    async def updates(
        self, seq: int, *, after: str | None = None
    ) -> AsyncIterator[tuple[str, Update]]:
        self.after = after
        for numbered in self.script.get(seq, []):
            yield numbered


class StubHost:
    """Implements `wakeful.host.Host` over dictionaries."""

    def __init__(self, name: str = "console") -> None:
        self.name = name
        self.kept = StubView()
        self.view: View = self.kept
        self.events: list[Event] = []
        self.mounted: dict[str, Any] = {}
        self.time = datetime(2026, 1, 5, 8, tzinfo=UTC)
        self.stopped: list[int] = []
        self._keys: dict[str, int] = {}

    async def accept(self, event: Event) -> Accepted:
        seen = next((self._keys[key] for key in event.keys if key in self._keys), None)
        if seen is not None:
            return Accepted(seen, self.events[seen - 1].thread_key, duplicate=True)
        self.events.append(event)
        seq = len(self.events)
        self._keys |= dict.fromkeys(event.keys, seq)
        row = {"state": "queued", "thread": event.thread_key, "reply": None, "error": None}
        self.kept.rows[seq] = {**row, "merged_into": None}
        said = Message(role="user", text=event.text, at=int(self.time.timestamp() * 1000))
        self.kept.said.setdefault(event.thread_key, []).append(replace(said, event_seq=seq))
        return Accepted(seq, event.thread_key)

    async def decide(self, wait: str, decision: Decision) -> Wait:
        found = self.kept.asked.get(wait)
        if found is None:
            raise Unknown(f"there is no wait {wait}")
        if found.state != "open":
            raise AlreadyDecided
        if decision.digest != found.request.digest:
            raise Stale
        self.kept.asked[wait] = replace(found, state="decided", decision=decision)
        return self.kept.asked[wait]

    def ask(self, id: str, **values: Any) -> None:
        given = {"title": "May I pay?", "tool": "refund", "digest": "d1", **values}
        request = WaitRequest(id=id, kind="approval", **given)
        self.kept.asked[id] = Wait(
            request=request, thread_key="console/a", event_seq=1, state="open", created_at=0
        )

    async def send(self, reply: Outgoing, *, event_seq: int) -> bool:
        return True

    async def stop(self, seq: int) -> bool:
        self.stopped.append(seq)
        return True

    async def shown(self, event_seq: int, address: str, id: str) -> None: ...
    async def remember(self, owner: str, text: str, *, key: str, event_seq: int) -> None: ...

    async def cursor(self, key: str) -> str | None:
        return None

    async def advance(self, key: str, value: str) -> None: ...

    def mount(self, path: str, asgi: Any, *, public: bool = False) -> None:
        self.mounted[path] = asgi

    async def artefact(self, data: bytes, *, name: str, media_type: str) -> Attachment:
        raise NotImplementedError

    async def read_artefact(self, id: str) -> bytes:
        raise NotImplementedError

    def wake(self) -> None: ...

    def now(self) -> datetime:
        return self.time

    def new_id(self) -> str:
        return uuid.uuid4().hex

    def addresses(self) -> Sequence[str]:
        return ("console",)

    def settings(self) -> Mapping[str, Any]:
        return {}

    async def tidy(self) -> Mapping[str, int]:
        return {}
