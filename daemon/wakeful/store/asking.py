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
from wakeful.store.words import const, num, txt

wait = schema.wait
_w = wait.c

# What the event asked is closed with it: used decisions are applied, open questions cancelled.
CLOSE_WAITS = Query(
    update(wait)
    .where(
        _w.thread_key == txt("k"),
        _w.event_seq == num("s"),
        literal_column("state IN ('open', 'decided')"),
        _w.outbox_id.is_(None),
    )
    .values(state=case((_w.state == const("open"), const("cancelled")), else_=const("applied")))
    .returning(wait)
)
APPLY = Query(
    update(wait)
    .where(_w.wait_id == txt("w"), _w.state == const("decided"))
    .values(state=const("applied"))
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
    s.run(
        ASK,
        wait_id=request.id,
        thread_key=thread_key,
        event_seq=event_seq,
        outbox_id=outbox_id,
        kind=request.kind,
        request=request_json(request),
        digest=request.digest,
        approvers=to_json(request.approvers),
        expires_at=request.expires_at,
        now=s.now,
    )


def still_decided(s: Session, claim: Claim, pending: set[str]) -> bool:
    """Is there an answer to a question that is still open? Answers to others were used up."""
    decided = {row["wait_id"] for row in s.all(DECIDED, k=claim.thread_key)}
    for wait_id in sorted(decided - pending):
        s.run(APPLY, w=wait_id)
    return bool(decided & pending)


def cards_for(claim: Claim, requests: Sequence[WaitRequest]) -> tuple[Outgoing, ...]:
    if not claim.event.address:
        return ()  # the page and the command line show it
    return tuple(
        Outgoing(
            ordinal=f"ask:{request.id}",
            address=claim.event.address,
            text=request.title,
            kind="ask",
            wait=request,
        )
        for request in requests
    )
