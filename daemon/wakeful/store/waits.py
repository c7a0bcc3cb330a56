"""Questions to people and their answers: one transaction for who decided, the wait, the thread."""

from __future__ import annotations

import json

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import literal_column

from wakeful.errors import AlreadyDecided, NotAllowed, Refused, Stale, Unknown
from wakeful.events import OPERATOR, Decision, Event, Outgoing, Wait, WaitRequest
from wakeful.store import schema
from wakeful.store.asking import ask
from wakeful.store.cards import TOO_LATE, Cards, ending
from wakeful.store.codec import (
    decision_json,
    request_from,
    to_json,
    wait_from,
)
from wakeful.store.fits import misfit
from wakeful.store.inbox import NAMED, put_event
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import const, num, txt

wait, thread, inbox, outbox, audit = (
    schema.wait,
    schema.thread,
    schema.inbox,
    schema.outbox,
    schema.audit,
)
_w, _t = wait.c, thread.c

FIND = Query(select(wait).where(_w.wait_id == txt("w")))
LOCK = Query(select(_t.thread_key).where(_t.thread_key == txt("k")).with_for_update())
REQUESTER = Query(select(inbox.c.principal).where(inbox.c.seq == num("s")))

DECIDE = Query(
    update(wait)
    .where(_w.wait_id == txt("w"), _w.state == const("open"))
    .values(state=txt("to"), decision=txt("answer"), decided_by=txt("who"), decided_at=num("now"))
)

# A parked thread goes on; one that runs finds the decision when it parks.
UNPARK = Query(
    update(thread)
    .where(_t.thread_key == txt("k"), _t.state == const("parked"))
    .values(state=const("ready"), ready_at=literal_column("0"))
)

# The first moment at which a question expires.
NEXT_EXPIRY = Query(
    select(func.min(_w.expires_at)).where(_w.state == const("open"), _w.expires_at.is_not(None))
)
EXPIRED = Query(
    select(wait)
    .where(_w.state == const("open"), _w.expires_at.is_not(None), _w.expires_at <= num("now"))
    .order_by(_w.expires_at)
)

DRAFT = Query(
    update(outbox)
    .where(outbox.c.id == num("i"), outbox.c.state == const("queued"))
    .values(state=const("held"))
)
LET_GO = Query(
    update(outbox)
    .where(outbox.c.id == num("i"), outbox.c.state == const("held"))
    .values(state=txt("to"), payload=txt("payload"), last_error=txt("why"), ended_at=num("ended"))
)
PAYLOAD = Query(select(outbox.c.payload).where(outbox.c.id == num("i")))

NOTE_AUDIT = Query(
    insert(audit).values(
        at=num("now"),
        principal=txt("principal"),
        action=txt("action"),
        subject=txt("subject"),
        detail=txt("detail"),
    )
)


class Waits(Cards):
    async def decide(self, wait_id: str, decision: Decision, *, key: str) -> Wait:
        """Answer a wait; the same `key` again changes nothing and returns the wait as it is."""
        decided = await self.db.run(lambda s: self._decide(s, wait_id, decision, key))
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

    def expire_due(self, s: Session) -> tuple[int, int | None]:
        """Close what nobody answered in time; says how many that were, and when the next is due.

        Done with every claim: a question expires when it says so, and costs one look till then.
        """
        due: int | None = s.scalar(NEXT_EXPIRY)
        if due is None or due > s.now:
            return 0, due
        late = s.all(EXPIRED, now=s.now)
        for row in late:
            s.one(LOCK, k=row["thread_key"])
            _settle(s, row, _no(row))
            self.close_card(s, row, TOO_LATE)
        return len(late), s.scalar(NEXT_EXPIRY)

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
        _settle(s, row, decision)
        self.close_card(s, row, ending(decision))
        return wait_from(s.one(FIND, w=wait_id))


def put_audit(s: Session, principal: str, action: str, subject: str, detail: str) -> None:
    s.run(
        NOTE_AUDIT,
        now=s.now,
        principal=principal,
        action=action,
        subject=subject,
        detail=detail,
    )


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
    put_audit(s, decision.by, decision.verdict, f"wait/{row['wait_id']}", decision.reason)


def _check(s: Session, row: Row, decision: Decision) -> None:
    if row["state"] != "open":
        by = f" by {row['decided_by']}" if row["decided_by"] else ""
        raise AlreadyDecided(f"this question is closed: it was {row['state']}{by}")
    if row["expires_at"] is not None and row["expires_at"] <= s.now:
        raise AlreadyDecided("this question has expired: nobody answered it in time")
    if row["args_digest"] and decision.digest != row["args_digest"]:
        raise Stale
    allowed = json.loads(row["approvers"]) or [s.scalar(REQUESTER, s=row["event_seq"])]
    if decision.by != OPERATOR and decision.by not in allowed:
        raise NotAllowed(f"{decision.by} may not decide this; {' or '.join(allowed)} may")
    if wrong := misfit(request_from(row["request"]), decision):
        raise Refused(wrong)


def _settle(s: Session, row: Row, decision: Decision) -> None:
    held = row["outbox_id"]
    s.run(
        DECIDE,
        w=row["wait_id"],
        to="decided" if held is None else "applied",
        answer=decision_json(decision),
        who=decision.by,
        now=s.now,
    )
    if held is None:
        s.run(UNPARK, k=row["thread_key"])
        return
    refused = decision.verdict == "reject"
    payload: str = s.scalar(PAYLOAD, i=held)
    if decision.verdict == "edit" and decision.text:
        payload = to_json(json.loads(payload) | {"text": decision.text})
    s.run(
        LET_GO,
        i=held,
        to="dead" if refused else "queued",
        payload=payload,
        why=f"rejected by {decision.by}" if refused else None,
        ended=s.now if refused else None,
    )


def _no(row: Row) -> Decision:
    """What a question that nobody answered is taken for."""
    return Decision(
        verdict="reject", by="", digest=row["args_digest"], reason="nobody answered in time"
    )


def _as_text(decision: Decision) -> str:
    words = (decision.verdict, decision.reason or decision.text)
    return ": ".join(word for word in words if word)
