"""What becomes of a question that nobody answers: a reminder, an escalation, and its end."""

from __future__ import annotations

from sqlalchemy import func, select, update

from wakeful.events import Decision, Outgoing, WaitRequest
from wakeful.store import schema
from wakeful.store.asking import card_at, due_after
from wakeful.store.cards import TOO_LATE, Cards
from wakeful.store.codec import request_from
from wakeful.store.query import Query, Row, Session
from wakeful.store.settling import LOCK, note_wait, settle
from wakeful.store.words import const, num, txt

wait = schema.wait
_w = wait.c

REMINDER = "This still waits for an answer: {title}"

# The first moment at which something is to be done about a question.
NEXT_DUE = Query(
    select(func.min(_w.remind_at)).where(_w.state == const("open"), _w.remind_at.is_not(None))
)
DUE = Query(
    select(wait)
    .where(_w.state == const("open"), _w.remind_at.is_not(None), _w.remind_at <= num("now"))
    .order_by(_w.remind_at)
)
LATER = Query(update(wait).where(_w.wait_id == txt("w")).values(remind_at=num("due")))


class Reminding(Cards):
    def press(self, s: Session) -> tuple[int, int | None]:
        """Do what is due about open questions; says for how many, and when the next is due.

        Done with every claim: a question expires when it says so, and costs one look till then.
        """
        due: int | None = s.scalar(NEXT_DUE)
        if due is None or due > s.now:
            return 0, due
        rows = s.all(DUE, now=s.now)
        for row in rows:
            s.one(LOCK, k=row["thread_key"])
            self._press(s, row)
        return len(rows), s.scalar(NEXT_DUE)

    def _press(self, s: Session, row: Row) -> None:
        """One step, the last one that is due: what a long stop passed over is left out."""
        request = request_from(row["request"])
        if request.expires_at is not None and request.expires_at <= s.now:
            settle(s, row, _no(row))
            note_wait(s, row, "", "expired")
            self.close_card(s, row, TOO_LATE)
            return
        if request.escalate_at is not None and request.escalate_at <= s.now:
            self._escalate(s, row, request)
        else:
            self._remind(s, row, request)
        s.run(LATER, w=row["wait_id"], due=due_after(request, s.now))

    def _remind(self, s: Session, row: Row, request: WaitRequest) -> None:
        for number, card in enumerate(self.cards(s, row)):
            self._say(
                s,
                row,
                Outgoing(
                    ordinal=f"remind:{request.id}@{number}",
                    address=card["address"],
                    text=REMINDER.format(title=request.title),
                    kind="message",
                    wait=request,
                ),
            )
        note_wait(s, row, "", "reminded")

    def _escalate(self, s: Session, row: Row, request: WaitRequest) -> None:
        for address in request.escalate_to:
            self._say(s, row, card_at(request, address))
        note_wait(s, row, "", "escalated", ", ".join(request.escalate_to))

    def _say(self, s: Session, row: Row, outgoing: Outgoing) -> None:
        self.put_reply(s, row["event_seq"], row["thread_key"], outgoing, hand=False)


def _no(row: Row) -> Decision:
    """What a question that nobody answered is taken for."""
    return Decision(
        verdict="reject", by="", digest=row["args_digest"], reason="nobody answered in time"
    )
