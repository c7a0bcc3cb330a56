"""Questions to people and their answers: one transaction for who decided, the wait, the thread."""

from __future__ import annotations

import json

from sqlalchemy import select, update

from wakeful.errors import AlreadyDecided, NotAllowed, Refused, Stale, Unknown
from wakeful.events import OPERATOR, Decision, Event, Outgoing, Wait, WaitRequest
from wakeful.store import schema
from wakeful.store.asking import ask
from wakeful.store.cards import ending
from wakeful.store.codec import decision_json, request_from, wait_from
from wakeful.store.fits import misfit
from wakeful.store.inbox import NAMED, put_event
from wakeful.store.query import Query, Row, Session
from wakeful.store.reminders import Reminding
from wakeful.store.settling import LOCK, REQUESTER, note_wait, put_audit, settle
from wakeful.store.words import const, num, txt

wait, outbox = schema.wait, schema.outbox

EXPIRED = "this question has expired: nobody answered it in time"

FIND = Query(select(wait).where(wait.c.wait_id == txt("w")))
DRAFT = Query(
    update(outbox)
    .where(outbox.c.id == num("i"), outbox.c.state == const("queued"))
    .values(state=const("held"))
)


class Waits(Reminding):
    async def decide(self, wait_id: str, decision: Decision, *, key: str) -> Wait:
        """Answer a wait; the same `key` again changes nothing and returns the wait as it is."""
        try:
            decided = await self.db.run(lambda s: self._decide(s, wait_id, decision, key))
        except (NotAllowed, Stale, AlreadyDecided, Refused) as no:
            await self.audit(decision.by, "refused", f"wait/{wait_id}", f"{decision.verdict}: {no}")
            raise
        self.wake_work()
        self.wake_mail()
        return decided

    async def wait(self, wait_id: str) -> Wait | None:
        def find(s: Session) -> Wait | None:
            row = s.one(FIND, w=wait_id)
            return None if row is None else wait_from(row)

        return await self.db.run(find, durable=False)

    async def hold(
        self, outgoing: Outgoing, request: WaitRequest, *, event_seq: int, thread_key: str
    ) -> bool:
        """Keep a draft back until its wait is decided; False when it is there already."""

        def put(s: Session) -> bool:
            reply = self.put_reply(s, event_seq, thread_key, outgoing, hand=False)
            if reply is None:
                return False
            s.run(DRAFT, i=reply.id)
            ask(s, request, thread_key=thread_key, event_seq=event_seq, outbox_id=reply.id)
            return True

        held = await self.db.run(put, lane=thread_key)
        self.wake_work()  # it may expire
        return held

    async def audit(self, principal: str, action: str, subject: str, detail: str = "") -> None:
        """Record who did what."""
        await self.db.run(lambda s: put_audit(s, principal, action, subject, detail))

    def _decide(self, s: Session, wait_id: str, decision: Decision, key: str) -> Wait:
        row = s.one(FIND, w=wait_id)
        if row is None:
            raise Unknown(f"there is no question {wait_id}; `wakeful waits` lists the open ones")
        s.one(LOCK, k=row["thread_key"])
        row = s.one(FIND, w=wait_id)
        if _is_known(s, row, decision, key):
            return wait_from(row)  # the same click, delivered again
        _check(s, row, decision)
        _note(s, row, decision, key)
        settle(s, row, decision)
        self.close_card(s, row, ending(decision))
        return wait_from(s.one(FIND, w=wait_id))


def _is_known(s: Session, row: Row, decision: Decision, key: str) -> bool:
    known = s.one(NAMED, source=key.partition("/")[0], key=key) is not None
    return known and row["decision"] == decision_json(decision)


def _note(s: Session, row: Row, decision: Decision, key: str) -> None:
    """The decision as an event of its own, and a line of who decided."""
    event = Event(
        source=key.partition("/")[0],
        keys=(key,),
        principal=decision.by,
        thread_key=row["thread_key"],
        text="",
        kind="decision",
        parent_seq=row["event_seq"],
    )
    put_event(s, event, decision_json(decision), state="done", text=_as_text(decision))
    note_wait(s, row, decision.by, decision.verdict, decision.reason or decision.text)


def _check(s: Session, row: Row, decision: Decision) -> None:
    if row["state"] != "open":
        if row["decided_by"] == "":
            raise AlreadyDecided(EXPIRED)
        by = f" by {row['decided_by']}" if row["decided_by"] else ""
        raise AlreadyDecided(f"this question is closed: it was {row['state']}{by}")
    if row["expires_at"] is not None and row["expires_at"] <= s.now:
        raise AlreadyDecided(EXPIRED)
    if row["args_digest"] and decision.digest != row["args_digest"]:
        raise Stale
    allowed = json.loads(row["approvers"]) or [s.scalar(REQUESTER, s=row["event_seq"])]
    if decision.by != OPERATOR and decision.by not in allowed:
        raise NotAllowed(f"{decision.by} may not decide this; {' or '.join(allowed)} may")
    if wrong := misfit(request_from(row["request"]), decision):
        raise Refused(wrong)


def _as_text(decision: Decision) -> str:
    words = (decision.verdict, decision.reason or decision.text)
    return ": ".join(word for word in words if word)
