"""The daemon as one plug sees it: every call is bound to the plug's name."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from wakeful.errors import Refused, Unknown
from wakeful.events import Accepted, Attachment, Decision, Event, Outgoing, Wait
from wakeful.host import Clock, View
from wakeful.redact import everywhere
from wakeful.service.artefacts import Artefacts
from wakeful.store import Store

Mounter = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What all hosts share."""

    store: Store
    clock: Clock
    view: View
    artefacts: Artefacts
    wake: Callable[[], None]  # something may be ready to run
    post: Callable[[], None]  # something may be ready to be sent
    stop: Callable[[int], Awaitable[bool]]
    tidy: Callable[[], Awaitable[Mapping[str, int]]]
    mount: Mounter
    addresses: Callable[[], Sequence[str]]
    settings: Callable[[], Mapping[str, Any]]
    hide: Callable[[str], str] = (
        str  # takes known secrets out of what goes to the model or to people
    )


class PlugHost:
    """Implements `wakeful.host.Host` for one plug."""

    def __init__(self, name: str, desk: Desk) -> None:
        self.name, self.view = name, desk.view
        self._desk, self._store = desk, desk.store

    async def accept(self, event: Event) -> Accepted:
        self._own(event)
        hide = self._desk.hide
        clean = replace(event, text=hide(event.text), data=everywhere(event.data, hide))
        accepted = await self._store.accept(clean)
        if not accepted.duplicate:
            self._desk.wake()
        return accepted

    def _own(self, event: Event) -> None:
        """A plug speaks for itself only: the source and the keys of its events carry its name."""
        if event.source != self.name:
            raise Refused(f"{self.name} may not accept events for {event.source}")
        if not event.keys or any(not key.startswith(f"{self.name}/") for key in event.keys):
            raise Refused(f"every key of an event of {self.name} begins with {self.name}/")
        if not event.thread_key or not event.principal:
            raise Refused("an event needs a thread and a principal")

    async def decide(self, wait: str, decision: Decision) -> Wait:
        hide = self._desk.hide
        if everywhere(decision.args, hide) != decision.args:
            raise Refused("these arguments hold a secret; let the tool read it by its name")
        clean = replace(decision, reason=hide(decision.reason), text=hide(decision.text))
        decided = await self._store.decide(wait, clean, key=f"{self.name}/decision/{wait}")
        self._desk.wake()
        return decided

    async def send(self, reply: Outgoing, *, event_seq: int) -> bool:
        channel, colon, where = reply.address.partition(":")
        if not (channel and colon and where):
            raise Refused(f"{reply.address!r} is no address; write channel and place")
        known = self._desk.addresses()
        if channel not in known:
            raise Refused(f"there is no channel {channel!r}; there is: {', '.join(known)}")
        row = await self.view.event(event_seq)
        if row is None:
            raise Unknown(f"there is no event {event_seq}")
        clean = replace(reply, text=self._desk.hide(reply.text))
        new = await self._store.post(clean, event_seq=event_seq, thread_key=str(row["thread"]))
        self._desk.post()
        return new

    async def stop(self, seq: int) -> bool:
        return await self._desk.stop(seq)

    async def shown(self, event_seq: int, address: str, id: str) -> None:
        await self._store.shown(event_seq, address, id)

    async def remember(self, owner: str, text: str, *, key: str, event_seq: int) -> None:
        await self._store.remember(owner, key, self._desk.hide(text), event_seq=event_seq)

    async def cursor(self, key: str) -> str | None:
        return await self._store.cursor(self.name, key)

    async def advance(self, key: str, value: str) -> None:
        await self._store.advance(self.name, key, value)

    def mount(self, path: str, asgi: Any, *, public: bool = False) -> None:
        self._desk.mount(path, asgi, public=public, owner=self.name)

    async def artefact(self, data: bytes, *, name: str, media_type: str) -> Attachment:
        return await self._desk.artefacts.write(data, name=name, media_type=media_type)

    async def read_artefact(self, id: str) -> bytes:
        return await self._desk.artefacts.read(id)

    async def tidy(self) -> Mapping[str, int]:
        return await self._desk.tidy()

    def wake(self) -> None:
        self._desk.wake()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._desk.clock.now() / 1000, UTC)

    def new_id(self) -> str:
        return uuid.uuid4().hex

    def addresses(self) -> Sequence[str]:
        return self._desk.addresses()

    def settings(self) -> Mapping[str, Any]:
        return self._desk.settings()
