"""Replies that a thread's next run is told of: a report that opened it, one that never arrived."""

from __future__ import annotations

from sqlalchemy import select, update
from sqlalchemy.sql.elements import literal_column

from wakeful.store import schema
from wakeful.store.codec import text_of
from wakeful.store.query import Query, Session
from wakeful.store.words import num, txt

outbox, thread = schema.outbox, schema.thread

TAKE = Query(
    update(outbox)
    .where(outbox.c.tell == txt("k"), outbox.c.told_by.is_(None))
    .values(told_by=num("seq"))
)
READ = Query(
    select(outbox.c.id, outbox.c.state, outbox.c.payload)
    .where(outbox.c.tell == txt("k"), outbox.c.told_by == num("seq"))
    .order_by(outbox.c.id)
)
TOLD = Query(
    update(outbox)
    .where(outbox.c.tell == txt("k"), outbox.c.told_by == num("seq"))
    .values(tell=None)
)
LESS = Query(
    update(thread).where(thread.c.thread_key == txt("k")).values(notes=thread.c.notes - num("n"))
)
MORE = Query(
    update(thread)
    .where(thread.c.thread_key == txt("k"))
    .values(notes=thread.c.notes + literal_column("1"))
)
TELL = Query(update(outbox).where(outbox.c.id == num("i")).values(tell=txt("k")))


def notes_for(s: Session, thread_key: str, seq: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(seed, undelivered) for this event's run, the same at every attempt."""
    s.run(TAKE, k=thread_key, seq=seq)
    rows = s.all(READ, k=thread_key, seq=seq)
    seed = tuple(text_of(row["payload"]) for row in rows if row["state"] != "dead")
    undelivered = tuple(text_of(row["payload"]) for row in rows if row["state"] == "dead")
    return seed, undelivered


def notes_told(s: Session, thread_key: str, seq: int) -> None:
    """The run that was told has ended."""
    told = s.run(TOLD, k=thread_key, seq=seq)
    if told:
        s.run(LESS, k=thread_key, n=told)


def note(s: Session, reply_id: int, thread_key: str) -> None:
    """Let the thread's next run be told of this reply; nothing when it is not a thread."""
    if s.run(MORE, k=thread_key):
        s.run(TELL, i=reply_id, k=thread_key)
