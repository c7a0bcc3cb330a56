"""The card of a question that was delivered: once the question is closed, it shows how."""

from __future__ import annotations

from sqlalchemy import select

from wakeful.events import Decision, Outgoing, Receipt, Reply
from wakeful.store import schema
from wakeful.store.codec import request_from
from wakeful.store.outbox import Outbox
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import num, txt

outbox = schema.outbox

WITHDRAWN = "This is not asked any more."
TOO_LATE = "Nobody answered in time."

# What went out to ask a question.
CARD = Query(
    select(outbox.c.address, outbox.c.state, outbox.c.receipt).where(
        outbox.c.event_seq == num("s"), outbox.c.ordinal == txt("o")
    )
)


class Cards(Outbox):
    def close_card(self, s: Session, row: Row, said: str) -> Reply | None:
        """Queue the change of a question's card behind the card itself; none without a card."""
        card = s.one(CARD, s=row["event_seq"], o=f"ask:{row['wait_id']}")
        if card is None or card["state"] == "dead":
            return None
        request = request_from(row["request"])
        change = Outgoing(
            ordinal=f"decided:{row['wait_id']}",
            address=card["address"],
            text=f"{request.title} {said}",
            kind="decided",
            wait=request,
        )
        return self.put_reply(s, row["event_seq"], row["thread_key"], change, hand=False)

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
