"""A delivered report or notice opens a thread of its own where it was delivered."""

from __future__ import annotations

from sqlalchemy.dialects.postgresql import insert

from wakeful.events import Reply
from wakeful.store import schema
from wakeful.store.inbox import SAY
from wakeful.store.notes import note
from wakeful.store.query import Query, Session
from wakeful.store.words import const, num, txt

route, thread = schema.route, schema.thread

OPEN = Query(
    insert(thread)
    .values(
        thread_key=txt("thread_key"),
        graph_id=txt("thread_key"),
        state=const("idle"),
        created_at=num("now"),
        updated_at=num("now"),
    )
    .on_conflict_do_nothing()
)

_lead = insert(route).values(
    address=txt("address"), thread_key=txt("thread_key"), created_at=num("now")
)
LEAD = Query(
    _lead.on_conflict_do_update(
        index_elements=["address"], set_={"thread_key": _lead.excluded.thread_key}
    )
)


def seed_thread(s: Session, reply: Reply, thread_key: str) -> None:
    """Make the thread where answers to this reply arrive, with its text as what was said first."""
    s.run(OPEN, thread_key=thread_key, now=s.now)
    s.run(LEAD, address=reply.address, thread_key=thread_key, now=s.now)
    s.run(
        SAY,
        thread_key=thread_key,
        event_seq=reply.event_seq,
        role="assistant",
        name="",
        text=reply.text,
        at=s.now,
    )
    note(s, reply.id, thread_key)
