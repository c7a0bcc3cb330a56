"""A question is closed by an answer: the wait, what it held up, and what a yes grants."""

from __future__ import annotations

import json

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import literal_column

from wakeful.events import Decision
from wakeful.store import schema
from wakeful.store.codec import decision_json, request_from, to_json
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import const, num, txt

wait, thread, outbox, audit, pin = (
    schema.wait,
    schema.thread,
    schema.outbox,
    schema.audit,
    schema.pin,
)
_w, _t = wait.c, thread.c

GRANTED = "approved"  # the kind of a pin: this tool was approved for this requester

LOCK = Query(select(_t.thread_key, _t.graph_id).where(_t.thread_key == txt("k")).with_for_update())
REQUESTER = Query(select(schema.inbox.c.principal).where(schema.inbox.c.seq == num("s")))

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

# A yes that holds until the conversation's graph thread is another one.
_granting = insert(pin).values(
    kind=const(GRANTED),
    name=txt("name"),
    digest=txt("graph"),
    by=txt("who"),
    at=num("now"),
)
GRANT = Query(
    _granting.on_conflict_do_update(
        index_elements=[pin.c.kind, pin.c.name],
        set_={
            "digest": _granting.excluded.digest,
            "by": _granting.excluded.by,
            "at": _granting.excluded.at,
        },
    )
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


def put_audit(s: Session, principal: str, action: str, subject: str, detail: str) -> None:
    s.run(
        NOTE_AUDIT,
        now=s.now,
        principal=principal,
        action=action,
        subject=subject,
        detail=detail,
    )


def note_wait(s: Session, row: Row, principal: str, action: str, detail: str = "") -> None:
    """A line of what became of a question, and of what exactly it asked."""
    words = (f"digest {row['args_digest']}" if row["args_digest"] else "", detail)
    told = "; ".join(word for word in words if word)
    put_audit(s, principal, action, f"wait/{row['wait_id']}", told)


def grant_name(thread_key: str, tool: str, principal: str) -> str:
    return f"{thread_key}|{tool}|{principal}"


def settle(s: Session, row: Row, decision: Decision) -> None:
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
        _grant(s, row, decision)
        s.run(UNPARK, k=row["thread_key"])
    else:
        _let_go(s, row, decision)


def _grant(s: Session, row: Row, decision: Decision) -> None:
    request = request_from(row["request"])
    if not request.grants or decision.verdict not in ("approve", "edit"):
        return
    requester: str = s.scalar(REQUESTER, s=row["event_seq"])
    locked = s.one(LOCK, k=row["thread_key"])
    s.run(
        GRANT,
        name=grant_name(row["thread_key"], request.tool, requester),
        graph=locked["graph_id"] if locked else "",
        who=decision.by,
        now=s.now,
    )


def _let_go(s: Session, row: Row, decision: Decision) -> None:
    """Send a draft that was held back, or drop it."""
    refused = decision.verdict == "reject"
    payload: str = s.scalar(PAYLOAD, i=row["outbox_id"])
    if decision.verdict == "edit" and decision.text:
        payload = to_json(json.loads(payload) | {"text": decision.text})
    s.run(
        LET_GO,
        i=row["outbox_id"],
        to="dead" if refused else "queued",
        payload=payload,
        why=f"rejected by {decision.by}" if refused else None,
        ended=s.now if refused else None,
    )
