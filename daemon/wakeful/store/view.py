"""What can be seen of the store, as plain JSON values with RFC 3339 times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from wakeful.events import Event, Message, Wait
from wakeful.store import shapes, viewing
from wakeful.store.codec import event_from, message_from, wait_from
from wakeful.store.idle import BULKY
from wakeful.store.query import Session
from wakeful.store.reading import Reading

T = TypeVar("T")
Json = dict[str, Any]


class Views:
    """Every method reads one snapshot of what is committed."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    async def read(self, operation: Callable[[Session], T]) -> T:
        """Run any operation that only reads, beside the writer."""
        return await self._reading.run(operation)

    async def threads(self, *, limit: int = 200, before: str | None = None) -> list[Json]:
        """The conversations, the latest first; `before`: those after this one in that order."""

        def look(s: Session) -> list[Json]:
            if before is None:
                rows = s.all(viewing.THREADS, n=limit)
            else:
                rows = s.all(viewing.THREADS_BEFORE, n=limit, k=before)
            return [shapes.thread(row) for row in rows]

        return await self.read(look)

    async def messages(
        self, thread_key: str, *, limit: int = 200, before: int | None = None
    ) -> list[Message]:
        """The last `limit` messages before the event `before`, oldest first."""

        def look(s: Session) -> list[Message]:
            if before is None:
                rows = s.all(viewing.MESSAGES, k=thread_key, n=limit)
            else:
                rows = s.all(viewing.MESSAGES_BEFORE, k=thread_key, n=limit, seq=before)
            return [message_from(row) for row in reversed(rows)]

        return await self.read(look)

    async def thread(self, thread_key: str) -> Json | None:
        def look(s: Session) -> Json | None:
            row = s.one(viewing.THREAD, k=thread_key)
            return None if row is None else shapes.thread(row)

        return await self.read(look)

    async def event(self, seq: int) -> Json | None:
        """The state of an event, and its reply when it has one."""

        def look(s: Session) -> Json | None:
            row = s.one(viewing.RUN, seq=seq)
            return None if row is None else shapes.event(row, viewing.reply_text(s, row))

        return await self.read(look)

    async def input_of(self, seq: int) -> Event | None:
        """The event as it was accepted; its text is empty once retention has forgotten it."""

        def look(s: Session) -> Event | None:
            row = s.one(viewing.INPUT, seq=seq)
            return None if row is None or row["kind"] == "decision" else event_from(row)

        return await self.read(look)

    async def runs(self, *, limit: int = 50, state: str | None = None) -> list[Json]:
        """What came in, the latest first; `state` as people see it (queued, running, waiting)."""

        def look(s: Session) -> list[Json]:
            rows = (
                s.all(viewing.RUNS_IN, n=limit, st=state) if state else s.all(viewing.RUNS, n=limit)
            )
            return [shapes.run(row) for row in rows]

        return await self.read(look)

    async def run(self, seq: int) -> Json | None:
        """One run with all that is known of it: steps, replies, waits and effects."""

        def look(s: Session) -> Json | None:
            row = s.one(viewing.RUN, seq=seq)
            if row is None:
                return None
            return {
                **shapes.run(row),
                "reply": viewing.reply_text(s, row),
                "steps": [shapes.step(one) for one in s.all(viewing.STEPS, seq=seq)],
                "replies": [shapes.reply(one) for one in s.all(viewing.REPLIES, seq=seq)],
                "waits": [one["wait_id"] for one in s.all(viewing.WAITS_OF, seq=seq)],
                "effects": [shapes.effect(one) for one in s.all(viewing.EFFECTS_OF, seq=seq)],
            }

        return await self.read(look)

    async def bulky(self, *, rows: int, before: int, limit: int) -> list[tuple[str, str]]:
        """(thread, graph) of idle conversations with more checkpoints than that."""
        found = await self.read(lambda s: s.all(BULKY, rows=rows, before=before, n=limit))
        return [(row["thread_key"], row["graph_id"]) for row in found]

    async def waits(self, *, state: str | None = "open") -> list[Wait]:
        def look(s: Session) -> list[Wait]:
            rows = s.all(viewing.WAITS_IN, st=state) if state else s.all(viewing.WAITS)
            return [wait_from(row) for row in rows]

        return await self.read(look)

    async def schedules(self) -> list[Json]:
        def look(s: Session) -> list[Json]:
            rows = s.all(viewing.SCHEDULES)
            return [shapes.schedule(row, s.one(viewing.FIRED, n=row["name"])) for row in rows]

        return await self.read(look)

    async def effects(self, *, state: str | None = None, limit: int = 50) -> list[Json]:
        """Journaled calls, the latest first."""

        def look(s: Session) -> list[Json]:
            rows = (
                s.all(viewing.EFFECTS_IN, n=limit, st=state)
                if state
                else s.all(viewing.EFFECTS, n=limit)
            )
            return [shapes.effect(row) for row in rows]

        return await self.read(look)

    async def status(self) -> Json:
        """Counts of what waits, runs and failed."""
        return await self.read(
            lambda s: {name: s.scalar(count) for name, count in viewing.COUNTS.items()}
        )
