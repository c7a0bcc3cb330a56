"""Firings: the moments at which schedules were due, and what became of each.

A firing and its event are one transaction with the schedule's next time, guarded by the time that
the caller saw: two clocks on one store, or one clock that runs twice, fire once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from wakeful.events import Accepted, Event, Outgoing
from wakeful.store import schema
from wakeful.store.codec import event_payload
from wakeful.store.inbox import PLACE, put_event
from wakeful.store.news import put_skipped
from wakeful.store.outbox import Outbox
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import const, num, txt

inbox, schedule, firing = schema.inbox, schema.schedule, schema.firing

# Go on to the next time, unless somebody else did so already.
ADVANCE = Query(
    update(schedule)
    .where(schedule.c.name == txt("k"), schedule.c.next_at == num("seen"))
    .values(next_at=num("then"), updated_at=num("now"))
)

# One moment at which a schedule was due; it exists once.
ADD = Query(
    insert(firing)
    .values(
        name=txt("name"),
        due_at=num("due_at"),
        state=txt("state"),
        outcome=txt("outcome"),
        started_at=num("now"),
        ended_at=num("ended_at"),
    )
    .on_conflict_do_nothing()
)
LINK = Query(
    update(firing)
    .where(firing.c.name == txt("k"), firing.c.due_at == num("due"))
    .values(event_seq=num("seq"))
)
END = Query(
    update(firing)
    .where(firing.c.name == txt("k"), firing.c.due_at == num("due"))
    .where(firing.c.state == const("running"))
    .values(state=txt("to"), outcome=txt("what"), ended_at=num("now"))
    .returning(firing.c.event_seq)
)
CLOSE = Query(
    update(inbox)
    .where(inbox.c.seq == num("k"))
    .values(state=txt("to"), error=txt("why"), done_at=num("now"))
)

# Handlers that began and never ended: their event is closed from the start, the firing is not.
BROKEN = Query(
    select(firing)
    .join(inbox, inbox.c.seq == firing.c.event_seq)
    .where(firing.c.state == const("running"), inbox.c.state == const("done"))
    .where(firing.c.started_at < num("before"))
)

# The newest firings of a schedule.
NEWEST = Query(
    select(firing)
    .where(firing.c.name == txt("name"))
    .order_by(firing.c.due_at.desc())
    .limit(num("limit"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringRow:
    """One firing, and what became of it."""

    name: str
    due_at: int  # ms UTC
    state: str  # running done silent failed skipped interrupted
    started_at: int
    event_seq: int | None = None
    outcome: str | None = None
    delivery: str | None = None
    ended_at: int | None = None


class Firings(Outbox):
    async def fire(
        self,
        name: str,
        due_at: int,
        event: Event,
        next_at: int | None,
        *,
        seen: int | None = None,
        here: bool = False,
        missed: tuple[int, str] | None = None,
    ) -> Accepted | None:
        """Record a firing, accept its event and go on to `next_at`; None when it fired already.

        `seen` is the due time that the caller read, `due_at` if it names none. `here`: the caller
        runs it, not the worker. `missed`: the first of the times that this firing stands for, and
        a sentence about them.
        """

        def operation(s: Session) -> Accepted | None:
            if not _advance(s, name, due_at if seen is None else seen, next_at):
                return None
            if missed is not None:
                _add(s, name, missed[0], "skipped", missed[1])
            return _fire(s, name, due_at, event, here)

        return await self._accept(operation, event)

    async def fire_now(
        self, name: str, due_at: int, event: Event, *, here: bool = False
    ) -> Accepted | None:
        """A firing that a person asked for; the schedule's next time stays as it is."""
        return await self._accept(lambda s: _fire(s, name, due_at, event, here), event)

    async def skip_firing(
        self,
        name: str,
        due_at: int,
        next_at: int | None,
        outcome: str,
        *,
        seen: int | None = None,
        event: Event | None = None,
        notice: Outgoing | None = None,
    ) -> bool:
        """Record that a firing was missed on purpose, and go on; False when somebody else did.

        `event`: the one that never runs, if people are told of it by the notice.
        """

        def operation(s: Session) -> bool:
            moved = _advance(s, name, due_at if seen is None else seen, next_at)
            added = moved and _add(s, name, due_at, "skipped", outcome)
            if added and event is not None and notice is not None:
                self._tell(s, name, due_at, event, outcome, notice)
            return added

        skipped = await self.db.run(operation, late=self.wake_mail)
        if notice is not None:
            self.wake_mail()
        return skipped

    def _tell(
        self, s: Session, name: str, due_at: int, event: Event, why: str, notice: Outgoing
    ) -> None:
        seq = put_skipped(s, event, why)
        if seq is not None:
            s.run(LINK, k=name, due=due_at, seq=seq)
            self.put_reply(s, seq, event.thread_key, notice, hand=False)

    async def end_firing(
        self, name: str, due_at: int, state: str, outcome: str, *, reply: Outgoing | None = None
    ) -> bool:
        """What came of a firing that the clock ran itself, and what people are told of it.

        The state is done, silent, failed or interrupted. False: it has ended already.
        """

        def operation(s: Session) -> bool:
            seq = _end(s, name, due_at, state, outcome)
            if seq is not None and reply is not None:
                thread_key = s.scalar(PLACE, seq=seq)
                self.put_reply(s, seq, thread_key, reply, hand=False)
            return seq is not None

        ended = await self.db.run(operation, late=self.wake_mail)
        if reply is not None:
            self.wake_mail()
        return ended

    async def broken_firings(self, before: int) -> list[FiringRow]:
        """What the clock began before a moment and never ended: a killed process left it."""
        return await self.db.run(lambda s: [_firing(row) for row in s.all(BROKEN, before=before)])

    async def firings(self, name: str, *, limit: int = 50) -> list[FiringRow]:
        """The newest firings of a schedule, newest first."""
        return await self.db.run(
            lambda s: [_firing(row) for row in s.all(NEWEST, name=name, limit=limit)],
            durable=False,
        )

    async def _accept(
        self, operation: Callable[[Session], Accepted | None], event: Event
    ) -> Accepted | None:
        accepted = await self.db.run(operation, lane=event.thread_key, late=self.wake_work)
        self.wake_work()
        return accepted


def _advance(s: Session, name: str, seen: int, next_at: int | None) -> bool:
    return bool(s.run(ADVANCE, k=name, seen=seen, then=next_at, now=s.now))


def _fire(s: Session, name: str, due_at: int, event: Event, here: bool) -> Accepted | None:
    if not _add(s, name, due_at, "running", None):
        return None
    accepted = put_event(s, event, event_payload(event), state="done" if here else "queued")
    if accepted.duplicate:  # retention has forgotten the firing, but not the event's name
        s.change(END, k=name, due=due_at, to="skipped", what="it fired before", now=s.now)
        return None
    s.run(LINK, k=name, due=due_at, seq=accepted.seq)
    return accepted


def _add(s: Session, name: str, due_at: int, state: str, outcome: str | None) -> bool:
    return bool(
        s.run(
            ADD,
            name=name,
            due_at=due_at,
            state=state,
            outcome=outcome,
            now=s.now,
            ended_at=None if state == "running" else s.now,
        )
    )


def _end(s: Session, name: str, due_at: int, state: str, outcome: str) -> int | None:
    """Close the firing and its event; the event, None when that was done already."""
    ended = s.change(END, k=name, due=due_at, to=state, what=outcome, now=s.now)
    if ended is None:
        return None
    failed = state in ("failed", "interrupted")
    why = outcome if failed else None
    s.run(CLOSE, k=ended["event_seq"], to="dead" if failed else state, why=why, now=s.now)
    return int(ended["event_seq"])


def _firing(row: Row) -> FiringRow:
    return FiringRow(
        name=row["name"],
        due_at=row["due_at"],
        state=row["state"],
        started_at=row["started_at"],
        event_seq=row["event_seq"],
        outcome=row["outcome"],
        delivery=row["delivery"],
        ended_at=row["ended_at"],
    )
