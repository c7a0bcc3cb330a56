"""Questions of a run, as rows: asked when it parks, used up when it goes on."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import case, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import literal_column

from wakeful.events import Claim, Outgoing, WaitRequest
from wakeful.store import schema
from wakeful.store.codec import request_json, to_json
from wakeful.store.query import Query, Session
from wakeful.store.settling import REQUESTER, note_wait
from wakeful.store.words import const, num, txt

wait = schema.wait
_w = wait.c

# A decision that a run has used; nobody's decision is an expiry.
_used = case((_w.decided_by == const(""), const("expired")), else_=const("applied"))

# What the event asked is closed with it: used decisions are applied, open questions cancelled.
CLOSE_WAITS = Query(
    update(wait)
    .where(
        _w.thread_key == txt("k"),
        _w.event_seq == num("s"),
        literal_column("state IN ('open', 'decided')"),
        _w.outbox_id.is_(None),
    )
    .values(state=case((_w.state == const("open"), const("cancelled")), else_=_used))
    .returning(wait)
)
APPLY = Query(
    update(wait).where(_w.wait_id == txt("w"), _w.state == const("decided")).values(state=_used)
)
ASK = Query(
    insert(wait)
    .values(
        wait_id=txt("wait_id"),
        thread_key=txt("thread_key"),
        event_seq=num("event_seq"),
        outbox_id=num("outbox_id"),
        kind=txt("kind"),
        request=txt("request"),
        args_digest=txt("digest"),
        approvers=txt("approvers"),
        remind_at=num("due"),
        expires_at=num("expires_at"),
        created_at=num("now"),
    )
    .on_conflict_do_nothing()
)
DECIDED = Query(select(_w.wait_id).where(_w.thread_key == txt("k"), _w.state == const("decided")))


def ask(
    s: Session,
    request: WaitRequest,
    *,
    thread_key: str,
    event_seq: int,
    outbox_id: int | None = None,
) -> None:
    """Write a question down, once. `outbox_id`: the draft that it holds back."""
    new = s.run(
        ASK,
        wait_id=request.id,
        thread_key=thread_key,
        event_seq=event_seq,
        outbox_id=outbox_id,
        kind=request.kind,
        request=request_json(request),
        digest=request.digest,
        approvers=to_json(request.approvers),
        due=due_after(request, s.now),
        expires_at=request.expires_at,
        now=s.now,
    )
    if new:
        row = {"wait_id": request.id, "args_digest": request.digest}
        note_wait(s, row, s.scalar(REQUESTER, s=event_seq) or "", "asked", request.tool)


def due_after(request: WaitRequest, now: int) -> int | None:
    """When something is to be done about an open question next."""
    moments = (request.remind_at, request.escalate_at, request.expires_at)
    return min((at for at in moments if at is not None and at > now), default=request.expires_at)


def still_decided(s: Session, claim: Claim, pending: set[str]) -> bool:
    """Is there an answer to a question that is still open? Answers to others were used up."""
    decided = {row["wait_id"] for row in s.all(DECIDED, k=claim.thread_key)}
    for wait_id in sorted(decided - pending):
        s.run(APPLY, w=wait_id)
    return bool(decided & pending)


def cards_for(claim: Claim, requests: Sequence[WaitRequest]) -> tuple[Outgoing, ...]:
    """A card for each place where a question is shown; without one, page and command line do."""
    own = (claim.event.address,) if claim.event.address else ()
    return tuple(
        card_at(request, address, first=not number)
        for request in requests
        for number, address in enumerate(dict.fromkeys(request.route or own))
    )


def card_at(request: WaitRequest, address: str, *, first: bool = False) -> Outgoing:
    return Outgoing(
        ordinal=f"ask:{request.id}" if first else f"ask:{request.id}@{address}",
        address=address,
        text=request.title,
        kind="ask",
        wait=request,
    )
