"""What a run leaves for people to look at: its steps, and what was said."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.dialects.postgresql import insert

from wakeful.events import Claim, Message, Outgoing, Step
from wakeful.store import schema
from wakeful.store.inbox import SAY
from wakeful.store.query import Query, Session
from wakeful.store.words import num, real, txt

STEP = Query(
    insert(schema.step)
    .values(
        event_seq=num("event_seq"),
        fence=num("fence"),
        n=num("n"),
        kind=txt("kind"),
        agent=txt("agent"),
        name=txt("name"),
        started_at=num("started_at"),
        ended_at=num("ended_at"),
        tokens_in=num("tokens_in"),
        tokens_out=num("tokens_out"),
        cost=real("cost"),
        ok=num("ok"),
        summary=txt("summary"),
    )
    .on_conflict_do_nothing()
)


def spoken(replies: Sequence[Outgoing], now: int) -> tuple[Message, ...]:
    """What people will see of these replies, for a run that left no messages of its own."""
    texts = dict.fromkeys(reply.text for reply in replies if reply.kind in ("answer", "notice"))
    return tuple(Message(role="assistant", text=text, at=now) for text in texts)


def put_trail(s: Session, claim: Claim, steps: Sequence[Step], messages: Sequence[Message]) -> None:
    for n, one in enumerate(steps):
        s.run(
            STEP,
            event_seq=claim.seq,
            fence=claim.fence,
            n=n,
            kind=one.kind,
            agent=one.agent,
            name=one.name,
            started_at=one.started_at,
            ended_at=one.ended_at,
            tokens_in=one.tokens_in,
            tokens_out=one.tokens_out,
            cost=one.cost,
            ok=int(one.ok),
            summary=one.summary,
        )
    for said in messages:
        s.run(
            SAY,
            thread_key=claim.thread_key,
            event_seq=claim.seq,
            role=said.role,
            name=said.name,
            text=said.text,
            at=said.at,
        )
