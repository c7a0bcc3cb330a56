"""Conversations that nobody works on: lent out for a moment, so that they can be made smaller.

A thread that is lent is `running` without a head. What comes in meanwhile queues behind it.
"""

from __future__ import annotations

from sqlalchemy import Integer, bindparam, func, or_, select, update
from sqlalchemy.sql.elements import literal_column

from wakeful.store import schema
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.words import const, num, txt

thread, inbox, saved = schema.thread, schema.inbox, schema.checkpoints
_t = thread.c

# Threads that have gathered many checkpoints and have been left alone for a while.
BULKY = Query(
    select(_t.thread_key, _t.graph_id)
    .join_from(thread, saved, saved.c.thread_id == _t.graph_id)
    .where(_t.state == const("idle"), _t.updated_at < num("before"))
    .group_by(_t.thread_key, _t.graph_id)
    .having(func.count() > num("rows"))
    .order_by(func.count().desc())
    .limit(bindparam("n", type_=Integer()))
)
LEND = Query(
    update(thread)
    .where(_t.thread_key == txt("k"), _t.state == const("idle"))
    .values(
        state=const("running"),
        fence=_t.fence + literal_column("1"),
        lease_owner=txt("owner"),
        lease_until=num("until"),
    )
    .returning(_t.fence)
)
LOCK = Query(
    select(_t.thread_key)
    .where(
        _t.thread_key == txt("k"),
        _t.fence == num("f"),
        _t.state == const("running"),
        _t.head_seq.is_(None),
    )
    .with_for_update()
)
WAITING = Query(
    select(inbox.c.seq, inbox.c.not_before)
    .where(inbox.c.thread_key == txt("k"), inbox.c.state == const("queued"))
    .order_by(inbox.c.seq)
    .limit(literal_column("1"))
)
BACK = Query(
    update(thread)
    .where(_t.thread_key == txt("k"))
    .values(
        state=txt("to"),
        head_seq=num("head"),
        ready_at=num("at"),
        lease_owner=None,
        lease_until=None,
    )
)
# Lent to a daemon that died.
LOST = Query(
    select(_t.thread_key, _t.fence).where(
        _t.state == const("running"),
        _t.head_seq.is_(None),
        or_(num("all") == literal_column("1"), _t.lease_until < num("now")),
    )
)


class Idle(Part):
    async def lend(self, thread_key: str) -> int | None:
        """Take a thread that is idle, so that no run begins in it; None when it is not idle."""

        def lend(s: Session) -> int | None:
            until = s.lease_now() + self.lease
            row = s.change(LEND, k=thread_key, owner=self.owner, until=until)
            return None if row is None else int(row[0])

        return await self.db.run(lend, durable=False, lane=thread_key)

    async def take_back(self, thread_key: str, fence: int) -> None:
        """End the loan; what came in meanwhile has its turn."""
        await self.db.run(lambda s: put_back(s, thread_key, fence), lane=thread_key)
        self.wake_work()


def put_back(s: Session, thread_key: str, fence: int) -> None:
    if s.one(LOCK, k=thread_key, f=fence) is None:
        return
    waiting = s.one(WAITING, k=thread_key)
    s.run(
        BACK,
        k=thread_key,
        to="ready" if waiting else "idle",
        head=waiting["seq"] if waiting else None,
        at=(waiting["not_before"] or 0) if waiting else 0,
    )


def put_back_lost(s: Session, *, alone: bool) -> None:
    """What a dead daemon had borrowed."""
    for row in s.all(LOST, all=int(alone), now=s.lease_now()):
        put_back(s, row["thread_key"], row["fence"])
