"""A clock that was set back must not make anybody wait longer than was meant.

Order never depends on time: events and replies go by their numbers. Only back-offs are moments.
"""

from __future__ import annotations

from sqlalchemy import select, update
from sqlalchemy.sql.elements import literal_column

from wakeful.host import Clock
from wakeful.store import schema
from wakeful.store.query import Query, Session
from wakeful.store.words import const, num

SLACK = 500  # ms that a clock may be adjusted by without anybody noticing

thread, outbox, inbox = schema.thread, schema.outbox, schema.inbox
_t, _o = thread.c, outbox.c

# Threads that back off; one that was never claimed waits for a moment of the calendar.
_backing_off = (
    _t.state == const("ready"),
    _t.ready_at > literal_column("0"),
    _t.claims > literal_column("0"),
)
EARLIER = Query(update(thread).where(*_backing_off).values(ready_at=_t.ready_at - num("by")))
EARLIER_MAIL = Query(
    update(outbox)
    .where(_o.state == const("queued"), _o.next_at > literal_column("0"))
    .values(next_at=_o.next_at - num("by"))
)
AT_ONCE = Query(update(thread).where(*_backing_off).values(ready_at=literal_column("0")))
AT_ONCE_MAIL = Query(
    update(outbox)
    .where(_o.state == const("queued"), _o.next_at > literal_column("0"))
    .values(next_at=literal_column("0"))
)
NEWEST = Query(select(inbox.c.received_at).order_by(inbox.c.seq.desc()).limit(literal_column("1")))


class ClockWatch:
    """Compares the wall clock with the one that counts from boot."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = self._measure()

    def _measure(self) -> int:
        return self._clock.now() - int(self._clock.boot() * 1000)

    def set_back(self) -> int:
        """By how many ms the clock was set back since the last call."""
        before, self._offset = self._offset, self._measure()
        back = before - self._offset
        return back if back > SLACK else 0


def bring_forward(s: Session, by: int) -> None:
    """Move every back-off back with the clock."""
    s.run(EARLIER, by=by)
    s.run(EARLIER_MAIL, by=by)


def distrust_future(s: Session) -> None:
    """At a start: when events came 'later' than now, no back-off can be believed."""
    newest = s.scalar(NEWEST)
    if newest is not None and newest > s.now + SLACK:
        s.run(AT_ONCE)
        s.run(AT_ONCE_MAIL)
