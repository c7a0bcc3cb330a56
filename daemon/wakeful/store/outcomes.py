"""How a claim ends. Every write is guarded by the claim's fence; the thread row is locked first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlalchemy import case, func, select, update
from sqlalchemy.sql.elements import literal_column

from wakeful.errors import LeaseLost
from wakeful.events import (
    Claim,
    Done,
    Event,
    Failed,
    Outgoing,
    Parked,
    Reply,
    Step,
)
from wakeful.store import schema
from wakeful.store.asking import CLOSE_WAITS, ask, cards_for, due_after, still_decided
from wakeful.store.cards import WITHDRAWN, Cards
from wakeful.store.codec import event_from
from wakeful.store.notes import notes_told
from wakeful.store.query import Query, Session
from wakeful.store.trail import put_trail, spoken
from wakeful.store.words import const, num, txt

inbox, thread, wait, step, firing = (
    schema.inbox,
    schema.thread,
    schema.wait,
    schema.step,
    schema.firing,
)
_t, _i, _w = thread.c, inbox.c, wait.c

# Lock the thread's row, if it is still ours.
GUARD = Query(
    update(thread)
    .where(_t.thread_key == txt("k"), _t.fence == num("f"), _t.state == const("running"))
    .values(fence=_t.fence)
)

# The event has ended, and with it those that joined it.
CLOSE = Query(
    update(inbox)
    .where(_i.seq == num("s"))
    .values(state=txt("to"), done_at=num("now"), error=txt("why"))
)
CLOSE_MERGED = Query(
    update(inbox).where(_i.merged_into == num("s"), _i.done_at.is_(None)).values(done_at=num("now"))
)

# The oldest event that waits in this thread; read only after the row is locked.
NEXT = Query(
    select(_i.seq, _i.not_before)
    .where(_i.thread_key == txt("k"), _i.state == const("queued"))
    .order_by(_i.seq)
    .limit(literal_column("1"))
)

# Let the thread go, with a new head or none.
ADVANCE = Query(
    update(thread)
    .where(_t.thread_key == txt("k"))
    .values(
        state=txt("to"),
        head_seq=num("head"),
        ready_at=num("at"),
        attempts=literal_column("0"),
        crashes=literal_column("0"),
        claims=literal_column("0"),
        lease_owner=None,
        lease_until=None,
        fingerprint=func.coalesce(txt("print"), _t.fingerprint),
    )
)

# Let the thread go with the head that it has.
KEEP = Query(
    update(thread)
    .where(_t.thread_key == txt("k"))
    .values(
        state=txt("to"),
        ready_at=num("at"),
        attempts=num("attempts"),
        crashes=case((txt("to") == const("parked"), literal_column("0")), else_=_t.crashes),
        lease_owner=None,
        lease_until=None,
        fingerprint=func.coalesce(txt("print"), _t.fingerprint),
    )
)

FIRED = Query(
    update(firing)
    .where(firing.c.event_seq == num("seq"))
    .values(state=txt("to"), outcome=txt("outcome"), ended_at=num("now"))
)

MERGE = Query(
    update(inbox)
    .where(_i.seq == num("s"), _i.thread_key == txt("k"), _i.state == const("queued"))
    .values(state=const("merged"), merged_into=num("into"))
    .returning(inbox)
)


class Outcomes(Cards):
    async def finish(self, claim: Claim, done: Done) -> None:
        """The run ended: its replies, its trail and the thread's next event, in one transaction."""

        def end(s: Session) -> tuple[list[Reply], bool]:
            silent = not done.replies and bool(done.silent)
            cards = self._close(s, claim, "silent" if silent else "done", done.silent or None)
            replies = cards + self._put_all(s, claim, done.replies)
            put_trail(s, claim, done.steps, done.messages or spoken(done.replies, s.now))
            return replies, _advance(s, claim, done.fingerprint)

        await self._end(claim, end)

    async def bury(
        self,
        claim: Claim,
        error: str,
        notice: Outgoing | None,
        *,
        steps: Sequence[Step] = (),
    ) -> None:
        """The event is dead: it says so, and lets the next one run."""

        def end(s: Session) -> tuple[list[Reply], bool]:
            cards = self._close(s, claim, "dead", error)
            notices = (notice,) if notice is not None else ()
            replies = cards + self._put_all(s, claim, tuple(one for one in notices if one.address))
            put_trail(s, claim, steps, spoken(notices, s.now))
            return replies, _advance(s, claim, "")

        await self._end(claim, end)

    async def park(
        self, claim: Claim, parked: Parked, *, asks: Sequence[Outgoing] | None = None
    ) -> None:
        """The run waits for people: its questions are on disk before anybody sees them.

        `asks` are the cards; left out, each question goes to the event's own address.
        """
        cards = cards_for(claim, parked.waits) if asks is None else asks

        def end(s: Session) -> tuple[list[Reply], bool]:
            for request in parked.waits:
                ask(s, request, thread_key=claim.thread_key, event_seq=claim.seq)
            replies = self._put_all(s, claim, cards)
            put_trail(s, claim, parked.steps, parked.messages)
            pending = {request.id for request in parked.waits} - set(parked.applied)
            ready = still_decided(s, claim, pending)
            _keep(s, claim, "ready" if ready else "parked", fingerprint=parked.fingerprint)
            due = any(due_after(request, s.now) is not None for request in parked.waits)
            return replies, ready or due

        await self._end(claim, end)

    async def retry(self, claim: Claim, failed: Failed, *, at: int) -> None:
        """It failed; the thread waits until `at` (ms UTC). An outage is not an attempt."""
        attempts = claim.attempts + (0 if failed.outage else 1)

        def end(s: Session) -> tuple[list[Reply], bool]:
            put_trail(s, claim, failed.steps, ())
            _keep(
                s,
                claim,
                "ready",
                at=at,
                attempts=attempts,
                fingerprint=failed.fingerprint,
            )
            return [], True

        await self._end(claim, end)

    async def release(self, claim: Claim) -> None:
        """Give it back unfinished: neither a crash nor an attempt (a drained run)."""

        def end(s: Session) -> tuple[list[Reply], bool]:
            _keep(s, claim, "ready", attempts=claim.attempts)
            return [], True

        await self._end(claim, end)

    async def merge(self, claim: Claim, seqs: Iterable[int]) -> tuple[tuple[int, Event], ...]:
        """Let waiting events of the thread join this one, before the graph sees them.

        Returns those that did.
        """
        wanted = sorted(seqs)

        def join(s: Session) -> tuple[tuple[int, Event], ...]:
            guard(s, claim)
            rows = (s.change(MERGE, s=seq, k=claim.thread_key, into=claim.seq) for seq in wanted)
            return tuple((row["seq"], event_from(row)) for row in rows if row is not None)

        return await self.db.run(join, lane=claim.thread_key)

    async def _end(self, claim: Claim, end: Callable[[Session], tuple[list[Reply], bool]]) -> None:
        def guarded(s: Session) -> tuple[list[Reply], bool]:
            guard(s, claim)
            return end(s)

        self._ended(await self.db.run(guarded, lane=claim.thread_key, late=self._ended))

    def _ended(self, result: tuple[list[Reply], bool]) -> None:
        replies, more = result
        self.hand_over(replies)
        if more:
            self.wake_work()

    def _close(self, s: Session, claim: Claim, state: str, why: str | None) -> list[Reply]:
        """End the event; returns what becomes of the cards of its open questions."""
        s.run(CLOSE, s=claim.seq, to=state, now=s.now, why=why)
        s.run(CLOSE_MERGED, s=claim.seq, now=s.now)
        closed = s.changes(CLOSE_WAITS, k=claim.thread_key, s=claim.seq)
        if claim.event.kind == "firing":
            outcome = "failed" if state == "dead" else state
            s.run(FIRED, seq=claim.seq, to=outcome, outcome=why or outcome, now=s.now)
        if claim.seed or claim.undelivered:
            notes_told(s, claim.thread_key, claim.seq)
        open_ones = [row for row in closed if row["state"] == "cancelled"]
        return [card for row in open_ones for card in self.close_card(s, row, WITHDRAWN)]

    def _put_all(self, s: Session, claim: Claim, replies: Sequence[Outgoing]) -> list[Reply]:
        put = (
            self.put_reply(s, claim.seq, claim.thread_key, reply, hand=True) for reply in replies
        )
        return [reply for reply in put if reply is not None]


def guard(s: Session, claim: Claim) -> None:
    """Lock the thread's row; raises LeaseLost when another claim came after this one."""
    if s.run(GUARD, k=claim.thread_key, f=claim.fence) != 1:
        raise LeaseLost


def _advance(s: Session, claim: Claim, fingerprint: str) -> bool:
    following = s.one(NEXT, k=claim.thread_key)
    s.run(
        ADVANCE,
        k=claim.thread_key,
        to="ready" if following else "idle",
        head=following["seq"] if following else None,
        at=(following["not_before"] or 0) if following else 0,
        print=fingerprint or None,
    )
    return following is not None


def _keep(
    s: Session,
    claim: Claim,
    state: str,
    *,
    at: int = 0,
    attempts: int = 0,
    fingerprint: str = "",
) -> None:
    s.run(
        KEEP,
        k=claim.thread_key,
        to=state,
        at=at,
        attempts=attempts,
        print=fingerprint or None,
    )
