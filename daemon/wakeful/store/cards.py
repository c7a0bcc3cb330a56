"""The card of a question that was delivered: once the question is closed, it shows how."""

from __future__ import annotations

from sqlalchemy import select

from wakeful.events import Decision, Outgoing, Receipt, Reply
from wakeful.store import schema
from wakeful.store.codec import request_from
from wakeful.store.outbox import Outbox
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import const, num, txt

outbox = schema.outbox

WITHDRAWN = "This is not asked any more."
TOO_LATE = "Nobody answered in time."

# What went out to ask a question, to every place where it was asked.
ASKED = Query(
    select(outbox.c.address, outbox.c.ordinal, outbox.c.state).where(
        outbox.c.event_seq == num("s"), outbox.c.kind == const("ask")
    )
)
CARD = Query(
    select(outbox.c.address, outbox.c.state, outbox.c.receipt).where(
        outbox.c.event_seq == num("s"), outbox.c.ordinal == txt("o")
    )
)


class Cards(Outbox):
    def close_card(self, s: Session, row: Row, said: str) -> list[Reply]:
        """Queue the change of a question's cards, each behind the card itself."""
        request, seq = request_from(row["request"]), row["event_seq"]
        changes = [
            Outgoing(
                ordinal=card["ordinal"].replace("ask:", "decided:", 1),
                address=card["address"],
                text=f"{request.title} {said}",
                kind="decided",
                wait=request,
            )
            for card in self.cards(s, row)
            if card["state"] != "dead"
        ]
        put = (self.put_reply(s, seq, row["thread_key"], change, hand=False) for change in changes)
        return [reply for reply in put if reply is not None]

    def cards(self, s: Session, row: Row) -> list[Row]:
        """Where a question was asked, dead cards included."""
        own = f"ask:{row['wait_id']}"
        asked = s.all(ASKED, s=row["event_seq"])
        return [card for card in asked if card["ordinal"].partition("@")[0] == own]

    async def card_of(self, change: Reply) -> Receipt | None:
        """What the destination said of the card that this changes; none: it has no card."""
        ordinal = change.ordinal.replace("decided:", "ask:", 1)
        row = await self.db.run(lambda s: s.one(CARD, s=change.event_seq, o=ordinal), durable=False)
        return Receipt(row["receipt"]) if row is not None and row["receipt"] else None


def ending(decision: Decision) -> str:
    """How a question ended, as a sentence."""
    why = decision.reason or decision.text
    done = {
        "approve": "Approved",
        "edit": "Approved with changes",
        "reject": "Rejected",
        "answer": "Answered",
    }[decision.verdict]
    return f"{done} by {decision.by}{f': {why}' if why else ''}."
