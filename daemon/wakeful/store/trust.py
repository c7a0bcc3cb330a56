"""Text from outside that a run brought in itself marks its thread, before the model reads it."""

from __future__ import annotations

from sqlalchemy import func, update

from wakeful.errors import LeaseLost
from wakeful.store import schema
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.words import const, num, txt

thread = schema.thread

# Only whoever holds the thread marks it; the first mark stays.
MARK = Query(
    update(thread)
    .where(
        thread.c.thread_key == txt("k"),
        thread.c.fence == num("f"),
        thread.c.state == const("running"),
    )
    .values(untrusted_since=func.coalesce(thread.c.untrusted_since, num("now")))
)


class Trust(Part):
    async def mark_untrusted(self, *, thread_key: str, fence: int) -> None:
        """Outside text is in this thread from now until /new. Raises LeaseLost."""

        def mark(s: Session) -> None:
            if not s.run(MARK, k=thread_key, f=fence, now=s.now):
                raise LeaseLost

        await self.db.run(mark, lane=thread_key)
