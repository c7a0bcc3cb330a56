"""What people are told without a run: the event that it is about is closed from the start."""

from __future__ import annotations

from sqlalchemy import update

from wakeful.events import Event, Outgoing
from wakeful.store import schema
from wakeful.store.inbox import put_event
from wakeful.store.outbox import Outbox
from wakeful.store.query import Query, Session
from wakeful.store.words import num, txt

inbox = schema.inbox

WHY = Query(update(inbox).where(inbox.c.seq == num("s")).values(error=txt("why")))


class News(Outbox):
    async def announce(self, event: Event, why: str, notice: Outgoing) -> bool:
        """Put a notice in the outbox, under an event that never runs; False when it is known."""

        def put(s: Session) -> bool:
            new = put_skipped(s, event, why)
            if new is not None:
                self.put_reply(s, new, event.thread_key, notice, hand=False)
            return new is not None

        told = await self.db.run(put, late=self.wake_mail)
        self.wake_mail()
        return told


def put_skipped(s: Session, event: Event, why: str) -> int | None:
    """The number of an event that never runs, because of `why`; None when it is there already."""
    accepted = put_event(s, event, "", state="skipped", text=why)
    if accepted.duplicate:
        return None
    s.run(WHY, s=accepted.seq, why=why)
    return accepted.seq
