"""The updates bus: what running events tell those who watch. Never stored; bounded everywhere.

A watcher gets a snapshot first, then what comes. Ids are `<process>.<n>`; a watcher that comes
back to the same process with the last id it saw gets what it missed, while it is still here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from wakeful.events import ENDED, Claim, Update

KEPT = 512  # updates per event for those who come back
BEHIND = 1024  # updates that a slow watcher may be behind; then it gets a new snapshot
TEXT = 200_000  # characters of unfinished text that a snapshot carries

Numbered = tuple[str, Update]
Look = Callable[[int], Awaitable[dict[str, Any] | None]]


@dataclass(slots=True, eq=False)
class _Watcher:
    queue: deque[tuple[int, Update]] = field(default_factory=deque)
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    lost: bool = False

    def put(self, number: int, update: Update) -> None:
        if len(self.queue) >= BEHIND:
            self.queue.clear()
            self.lost = True
        self.queue.append((number, update))
        self.bell.set()

    def caught_up(self) -> None:
        """Drop what a snapshot of this moment tells; how it ended may be news to it."""
        self.lost = False
        self.queue = deque(one for one in self.queue if one[1].kind in ("reply", "state"))


@dataclass(slots=True)
class _Topic:
    """One event that is watched, or that somebody is about to watch."""

    recent: deque[tuple[int, Update]] = field(default_factory=lambda: deque(maxlen=KEPT))
    watchers: set[_Watcher] = field(default_factory=set)
    text: str = ""
    tools: dict[str, Update] = field(default_factory=dict)
    live: bool = False

    def note(self, number: int, update: Update) -> None:
        self.recent.append((number, update))
        if update.kind == "text" and update.agent == "main":
            self.text = (self.text + update.text)[-TEXT:]
        elif update.kind in ("tool", "agent"):
            self.text = "" if update.agent == "main" else self.text
            self.tools[update.call_id] = update
        elif update.kind in ("tool-end", "agent-end"):
            self.tools.pop(update.call_id, None)
        for watcher in self.watchers:
            watcher.put(number, update)


class Updates:
    """Topics by event; an event that nobody watches costs nothing."""

    def __init__(self, look: Look, *, process: str) -> None:
        self._look, self._process = look, process
        self._topics: dict[int, _Topic] = {}
        self._number = 0
        self._closed = False

    def watch(self, claim: Claim) -> Callable[[Update], None] | None:
        """Where a run tells its progress, or None when nobody would hear it."""
        if claim.event.data.get("live"):
            self._topics.setdefault(claim.seq, _Topic()).live = True
        return self.publish if claim.seq in self._topics else None

    def publish(self, update: Update) -> None:
        """Hand an update to everybody who watches its event."""
        topic = self._topics.get(update.event_seq)
        if topic is None:
            return
        self._number += 1
        topic.note(self._number, update)
        if update.kind == "state" and update.text in ENDED:
            topic.live = False
            self._forget(update.event_seq)

    def close(self) -> None:
        """End every stream: the daemon stops."""
        self._closed = True
        for topic in self._topics.values():
            for watcher in topic.watchers:
                watcher.bell.set()

    async def stream(self, seq: int, *, after: str | None = None) -> AsyncIterator[Numbered]:
        """A snapshot of the event, then its updates, until it ends."""
        topic = self._topics.setdefault(seq, _Topic())
        watcher = _Watcher()
        topic.watchers.add(watcher)
        try:
            missed = self._missed(topic, after)
            if missed is None:
                missed = await self._snapshot(seq, topic, watcher)
            for numbered in missed:
                yield numbered
                if _ends(numbered[1]):
                    return
            async for numbered in self._follow(seq, topic, watcher):
                yield numbered
        finally:
            topic.watchers.discard(watcher)
            self._forget(seq)

    async def _follow(self, seq: int, topic: _Topic, watcher: _Watcher) -> AsyncIterator[Numbered]:
        while not self._closed:
            if watcher.lost:
                for numbered in await self._snapshot(seq, topic, watcher):
                    yield numbered
                    if _ends(numbered[1]):
                        return
            while watcher.queue:
                number, update = watcher.queue.popleft()
                yield self._id(number), update
                if _ends(update):
                    return
            watcher.bell.clear()
            if not watcher.queue and not self._closed:
                await watcher.bell.wait()

    def _missed(self, topic: _Topic, after: str | None) -> list[Numbered] | None:
        """What came after that id, or None when that cannot be said any more."""
        process, _, number = (after or "").partition(".")
        if process != self._process or not number.isascii() or not number.isdigit():
            return None
        seen = int(number)
        if not topic.recent or (topic.recent[0][0] > seen + 1 and len(topic.recent) == KEPT):
            return None
        return [(self._id(n), update) for n, update in topic.recent if n > seen]

    async def _snapshot(self, seq: int, topic: _Topic, watcher: _Watcher) -> list[Numbered]:
        row = await self._look(seq) or {}
        watcher.caught_up()  # what came meanwhile is in the topic
        state = str(row.get("state", ""))
        at = self._id(self._number)
        made: list[Update] = []
        if state in ENDED:
            if row.get("reply"):
                made.append(Update(kind="reply", event_seq=seq, text=str(row["reply"])))
        else:
            made.extend(topic.tools.values())
            if topic.text:
                whole = Update(kind="text", event_seq=seq, text=topic.text, detail="snapshot")
                made.append(whole)
        detail = str(row.get("merged_into") or row.get("error") or "")
        made.append(Update(kind="state", event_seq=seq, text=state, detail=detail))
        return [(at, update) for update in made]

    def _id(self, number: int) -> str:
        return f"{self._process}.{number}"

    def _forget(self, seq: int) -> None:
        topic = self._topics.get(seq)
        if topic is not None and not topic.live and not topic.watchers:
            del self._topics[seq]


def _ends(update: Update) -> bool:
    return update.kind == "state" and update.text in ENDED
