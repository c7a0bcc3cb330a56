"""Stopping an event: the wish is on disk, so that a restart does not forget it."""

from __future__ import annotations

from sqlalchemy import update
from sqlalchemy.sql.elements import literal_column

from wakeful.store import schema
from wakeful.store.inbox import PLACE
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.settling import LOCK
from wakeful.store.words import const, num

inbox, thread = schema.inbox, schema.thread

STOPPED = "stopped by the user"  # why such an event ends as it does

# An event that has not ended and has an error is one to stop.
MARK = Query(
    update(inbox)
    .where(inbox.c.seq == num("s"), inbox.c.state == const("queued"))
    .values(error=const(STOPPED), not_before=None)
)

# What it waits for, people or a moment, is not waited for any more.
HURRY = Query(
    update(thread)
    .where(thread.c.head_seq == num("s"), thread.c.state.in_([const("parked"), const("ready")]))
    .values(state=const("ready"), ready_at=literal_column("0"))
)


class Stopping(Part):
    async def stop(self, seq: int) -> bool:
        """Let an event end when it is claimed next; False when it has ended already."""

        def mark(s: Session) -> bool:
            s.one(LOCK, k=s.scalar(PLACE, seq=seq) or "")
            marked = s.run(MARK, s=seq) == 1
            s.run(HURRY, s=seq)
            return marked

        marked = await self.db.run(mark)
        self.wake_work()
        return marked
