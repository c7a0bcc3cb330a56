"""Taking events to work on: the thread row is the mutex, its `head_seq` is the event."""

from __future__ import annotations

from sqlalchemy import Integer, bindparam, func, or_, select, update
from sqlalchemy.sql.elements import literal_column

from wakeful.events import Claim, Decision, Event, Lease
from wakeful.store import schema
from wakeful.store.backwards import bring_forward, distrust_future
from wakeful.store.codec import decision_from, event_from
from wakeful.store.idle import put_back_lost
from wakeful.store.notes import notes_for
from wakeful.store.query import Query, Row, Session
from wakeful.store.reminders import NEXT_DUE as NEXT_REMINDER
from wakeful.store.waits import Waits
from wakeful.store.words import const, num, txt

inbox, thread, wait, outbox = schema.inbox, schema.thread, schema.wait, schema.outbox
_t = thread.c

_running = (_t.state == const("running"), _t.head_seq.is_not(None))

_due = (
    select(_t.thread_key)
    .where(_t.state == const("ready"), _t.head_seq.is_not(None), _t.ready_at <= num("now"))
    .order_by(_t.head_seq)
    .limit(bindparam("free", type_=Integer()))
    .with_for_update(skip_locked=True)
)

# Take the threads whose events have waited longest.
CLAIM = Query(
    update(thread)
    .where(_t.thread_key.in_(_due))
    .values(
        state=const("running"),
        lease_owner=txt("owner"),
        lease_until=num("until"),
        fence=_t.fence + literal_column("1"),
        claims=_t.claims + literal_column("1"),
    )
    .returning(
        _t.thread_key,
        _t.head_seq,
        _t.graph_id,
        _t.fence,
        _t.claims,
        _t.attempts,
        _t.crashes,
        _t.fingerprint,
        _t.untrusted_since,
        _t.notes,
    )
)

# The event that a thread works on.
HEAD = Query(select(inbox).where(inbox.c.seq == num("seq")))

# A new graph thread for an event that wants one; the same again when the event is claimed again.
RENEW = Query(
    update(thread)
    .where(_t.thread_key == txt("k"))
    .values(graph_id=txt("graph"), fingerprint=None, untrusted_since=num("since"))
)

# Decisions that the run has not used yet.
DECIDED = Query(
    select(wait.c.wait_id, wait.c.decision).where(
        wait.c.thread_key == txt("k"), wait.c.state == const("decided")
    )
)

# Events that joined this one in an earlier attempt.
MERGED = Query(select(inbox).where(inbox.c.merged_into == num("seq")).order_by(inbox.c.seq))

# When the next thread that waits for a moment becomes ready.
NEXT_DUE = Query(
    select(func.min(_t.ready_at)).where(
        _t.state == const("ready"), _t.ready_at > literal_column("0")
    )
)

# Is anything ready that had no room in this claim?
READY_NOW = Query(
    select(_t.thread_key)
    .where(_t.state == const("ready"), _t.head_seq.is_not(None), _t.ready_at <= num("now"))
    .limit(literal_column("1"))
)

BEAT = Query(
    update(thread).where(*_running, _t.lease_owner == txt("owner")).values(lease_until=num("until"))
)
MINE = Query(select(_t.thread_key, _t.fence).where(*_running, _t.lease_owner == txt("owner")))
BEAT_MAIL = Query(
    update(outbox)
    .where(outbox.c.state == const("sending"), outbox.c.lease_owner == txt("owner"))
    .values(lease_until=num("until"))
)

# What a dead daemon was working on is ready again, and counts as a crash.
RECOVER = Query(
    update(thread)
    .where(
        *_running,
        or_(num("all") == literal_column("1"), _t.lease_until < num("now")),
    )
    .values(
        state=const("ready"),
        ready_at=literal_column("0"),
        crashes=_t.crashes + literal_column("1"),
        lease_owner=None,
        lease_until=None,
    )
)

LEASE_SHARE = 0.9  # of a lease that its holder relies on


class Claims(list[Claim]):
    """What was claimed, and when the next thread becomes ready (ms UTC, None: not by itself)."""

    next_due: int | None = None
    pressed: int = 0  # questions that became due meanwhile


class Claiming(Waits):
    async def claim(self, limit: int) -> Claims:
        """Take up to `limit` threads' heads, oldest event first."""
        if limit <= 0 or self.nothing_before(self._no_work, self._work_due):
            none = Claims()
            none.next_due = self._work_due
            return none
        self._no_work = self.alone  # until something wakes us
        lasts = self.lasts()
        claims = await self.db.run(
            lambda s: self._claim(s, limit, lasts), durable=False, late=self._give_back
        )
        self._work_due = claims.next_due
        if claims.pressed:
            self.wake_mail()
        if len(claims) >= limit:
            self._no_work = False
        return claims

    def _give_back(self, claims: Claims) -> None:
        """The worker that asked for these was cancelled before it got them."""

        def give(s: Session) -> None:
            for claim in claims:
                s.run(UNCLAIM, k=claim.thread_key, f=claim.fence)

        self.db.post(give)
        self.wake_work()

    def lasts(self) -> float:
        """Until when a lease that is written now is relied on (boot-time clock, seconds)."""
        lasts = self.clock.boot() + self.lease / 1000 * LEASE_SHARE
        return float("inf") if self.alone else lasts

    def _claim(self, s: Session, limit: int, lasts: float) -> Claims:
        pressed, reminder = self.press(s)
        rows = s.changes(
            CLAIM, now=s.now, free=limit, owner=self.owner, until=s.lease_now() + self.lease
        )
        claims = Claims(_claimed(s, row, lasts) for row in rows)
        claims.sort(key=lambda claim: claim.seq)
        claims.pressed = pressed
        if len(claims) < limit:
            claims.next_due = _earlier(s.scalar(NEXT_DUE), reminder)
        return claims

    async def next_due(self) -> int | None:
        """When the next thread becomes ready by itself, ms UTC."""
        if self._no_work:
            return self._work_due

        def look(s: Session) -> int | None:
            if s.one(READY_NOW, now=s.now):
                return s.now
            return _earlier(s.scalar(NEXT_DUE), s.scalar(NEXT_REMINDER))

        return await self.db.run(look, durable=False)

    async def heartbeat(self) -> set[tuple[str, int]]:
        """Keep what we hold; returns (thread, fence) of every claim that is still ours."""
        back = self.clock_watch.set_back()
        mine = await self.db.run(lambda s: self._beat(s, back), durable=False)
        if back:
            self._stir()
        return mine

    def _beat(self, s: Session, back: int) -> set[tuple[str, int]]:
        if not self.alone:
            until = s.lease_now() + self.lease
            s.run(BEAT, owner=self.owner, until=until)
            s.run(BEAT_MAIL, owner=self.owner, until=until)
        if back:
            bring_forward(s, back)
        return {(row[0], row[1]) for row in s.all(MINE, owner=self.owner)}

    async def recover(self) -> int:
        """Make ready again what a dead daemon was working on; on a file that is all that runs."""
        found = await self.db.run(self._recover)
        if found:
            self._stir()
        return found

    def _recover(self, s: Session) -> int:
        distrust_future(s)
        put_back_lost(s, alone=self.alone)
        return s.run(RECOVER, all=int(self.alone), now=s.lease_now())

    def _stir(self) -> None:
        self.wake_work()
        self.wake_mail()


# Give a claim back as if it had never been made.
UNCLAIM = Query(
    update(thread)
    .where(_t.thread_key == txt("k"), _t.fence == num("f"), _t.state == const("running"))
    .values(
        state=const("ready"),
        ready_at=literal_column("0"),
        claims=_t.claims - literal_column("1"),
        lease_owner=None,
        lease_until=None,
    )
)


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((moment for moment in (one, other) if moment is not None), default=None)


def _claimed(s: Session, row: Row, lasts: float) -> Claim:
    head = s.one(HEAD, seq=row["head_seq"])
    if head is None:
        raise LookupError(f"the event {row['head_seq']} of thread {row['thread_key']} is gone")
    event = event_from(head)
    again = row["claims"] > 1
    graph, fingerprint, untrusted = row["graph_id"], row["fingerprint"], row["untrusted_since"]
    if event.fresh and not again:
        graph, fingerprint = f"{event.thread_key}#{head['seq']}", None
        untrusted = s.now if event.untrusted else None
        s.run(RENEW, k=event.thread_key, graph=graph, since=untrusted)
    seed, undelivered = notes_for(s, event.thread_key, head["seq"]) if row["notes"] else ((), ())
    return Claim(
        seq=head["seq"],
        event=event,
        graph_id=graph,
        fence=row["fence"],
        attempts=row["attempts"],
        crashes=row["crashes"],
        received_at=head["received_at"],
        lease=Lease(lasts),
        decisions=_decisions(s, event.thread_key) if again else {},
        merged=_merged(s, head["seq"]) if again else (),
        fingerprint=fingerprint,
        untrusted=untrusted is not None,
        seed=seed,
        undelivered=undelivered,
        stopped=head["error"] is not None,
    )


def _decisions(s: Session, thread_key: str) -> dict[str, Decision]:
    rows = s.all(DECIDED, k=thread_key)
    return {row["wait_id"]: decision_from(row["decision"]) for row in rows}


def _merged(s: Session, seq: int) -> tuple[tuple[int, Event], ...]:
    return tuple((row["seq"], event_from(row)) for row in s.all(MERGED, seq=seq))
