"""What comes in: an event is on disk, once, before anybody acknowledges it."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from wakeful.events import Accepted, Event
from wakeful.store import schema
from wakeful.store.codec import event_payload
from wakeful.store.cursors import put_cursor
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.words import const, num, txt

inbox, identity, thread, message = schema.inbox, schema.identity, schema.thread, schema.message

# Write the event down; its number is its place in the queue.
ADD = Query(
    insert(inbox)
    .values(
        source=txt("source"),
        channel=txt("channel"),
        principal=txt("principal"),
        thread_key=txt("thread_key"),
        kind=txt("kind"),
        payload=txt("payload"),
        address=txt("address"),
        untrusted=num("untrusted"),
        state=txt("state"),
        not_before=num("not_before"),
        parent_seq=num("parent_seq"),
        received_at=num("now"),
        done_at=num("done_at"),
    )
    .returning(inbox.c.seq)
)

# Take a name for the event; nothing happens when another event has it.
NAME = Query(
    insert(identity)
    .values(source=txt("source"), key=txt("key"), seq=num("seq"))
    .on_conflict_do_nothing()
)

# The event that has this name.
NAMED = Query(
    select(identity.c.seq).where(identity.c.source == txt("source"), identity.c.key == txt("key"))
)

# The thread in which an event is.
PLACE = Query(select(inbox.c.thread_key).where(inbox.c.seq == num("seq")))

# Take back an event that turned out to be there already, and the names it took.
FORGET = Query(delete(inbox).where(inbox.c.seq == num("seq")))
UNNAME = Query(
    delete(identity).where(
        identity.c.source == txt("source"),
        identity.c.key == txt("key"),
        identity.c.seq == num("seq"),
    )
)

_fresh = insert(thread).values(
    thread_key=txt("thread_key"),
    graph_id=txt("thread_key"),
    state=const("ready"),
    head_seq=num("seq"),
    ready_at=num("ready_at"),
    untrusted_since=num("untrusted_since"),
    owner=txt("owner"),
    created_at=num("now"),
    updated_at=num("now"),
)

# Lock the thread's row (making it if need be); an idle thread gets the event as its head.
TOUCH = Query(
    _fresh.on_conflict_do_update(
        index_elements=["thread_key"],
        where=thread.c.state == const("idle"),
        set_={
            "state": const("ready"),
            "head_seq": _fresh.excluded.head_seq,
            "ready_at": _fresh.excluded.ready_at,
            "attempts": 0,
            "crashes": 0,
            "claims": 0,
            "updated_at": _fresh.excluded.updated_at,
        },
    )
)

# Outside text is in this thread from now on.
MARK = Query(
    update(thread)
    .where(thread.c.thread_key == txt("k"))
    .values(untrusted_since=func.coalesce(thread.c.untrusted_since, num("now")))
)

# One line of what people saw.
SAY = Query(
    insert(message).values(
        thread_key=txt("thread_key"),
        event_seq=num("event_seq"),
        role=txt("role"),
        name=txt("name"),
        text=txt("text"),
        at=num("at"),
    )
)


def put_event(
    s: Session, event: Event, payload: str, *, state: str = "queued", text: str | None = None
) -> Accepted:
    """Accept within an open transaction."""
    seq: int = s.change(
        ADD,
        source=event.source,
        channel=event.channel,
        principal=event.principal,
        thread_key=event.thread_key,
        kind=event.kind,
        payload=payload,
        address=event.address,
        untrusted=int(event.untrusted),
        state=state,
        not_before=event.not_before,
        parent_seq=event.parent_seq,
        now=s.now,
        done_at=None if state == "queued" else s.now,
    )[0]
    known = _take_names(s, event, seq)
    if known is not None:
        return known
    if state == "queued":
        _queue(s, event, seq)
    asked = event.parent_seq if event.kind == "decision" else None  # it stands where it was asked
    s.run(
        SAY,
        thread_key=event.thread_key,
        event_seq=asked or seq,
        role="user",
        name=event.principal,
        text=event.text if text is None else text,
        at=s.now,
    )
    return Accepted(seq, event.thread_key)


def _take_names(s: Session, event: Event, seq: int) -> Accepted | None:
    """Take every name of the event; when one is another event's, that one is it."""
    for key in sorted(event.keys):
        if s.run(NAME, source=event.source, key=key, seq=seq):
            continue
        known: int = s.scalar(NAMED, source=event.source, key=key)
        s.run(FORGET, seq=seq)
        for other in event.keys:
            s.run(UNNAME, source=event.source, key=other, seq=seq)
            s.run(NAME, source=event.source, key=other, seq=known)
        return Accepted(known, s.scalar(PLACE, seq=known) or event.thread_key, duplicate=True)
    return None


def _queue(s: Session, event: Event, seq: int) -> None:
    s.run(
        TOUCH,
        thread_key=event.thread_key,
        seq=seq,
        ready_at=event.not_before or 0,
        untrusted_since=s.now if event.untrusted else None,
        owner=event.principal,
        now=s.now,
    )
    if event.untrusted:
        s.run(MARK, k=event.thread_key, now=s.now)


class Inbox(Part):
    async def accept(self, event: Event, *, cursor: tuple[str, str, str] | None = None) -> Accepted:
        """Put an event on disk, and a channel's cursor with it.

        Any of its keys seen before makes it a duplicate.
        """
        accepted = await self.db.run(
            _accepting(event, cursor), lane=event.thread_key, late=self.wake_work
        )
        if not accepted.duplicate:
            self.wake_work()
        return accepted


def _accepting(event: Event, cursor: tuple[str, str, str] | None) -> Callable[[Session], Accepted]:
    payload = event_payload(event)

    def accept(s: Session) -> Accepted:
        accepted = put_event(s, event, payload)
        if cursor is not None:
            put_cursor(s, *cursor)
        return accepted

    return accept
