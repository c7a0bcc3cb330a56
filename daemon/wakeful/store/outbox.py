"""What goes out: first in, first out for each thread and address; on disk before it is sent.

`finish` hands a reply to the courier in the transaction that writes it, already `sending`, when
nothing of its lane is before it: that saves the courier a transaction. After a crash it is as
doubtful as any other.
"""

from __future__ import annotations

from sqlalchemy import Integer, Text, and_, bindparam, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import literal_column

from wakeful.events import Outgoing, Receipt, Reply
from wakeful.store import schema
from wakeful.store.codec import outgoing_payload, reply_from
from wakeful.store.notes import note
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.seeds import seed_thread
from wakeful.store.words import const, num, txt

MOST_HANDED = 256  # replies that wait in memory for the courier; the others wait on disk

outbox, progress, firing, thread = schema.outbox, schema.progress, schema.firing, schema.thread
_o = outbox.c
_early = outbox.alias("early")

# Is something of this lane before it?
LANE = Query(
    select(_o.id)
    .where(
        _o.thread_key == txt("k"),
        _o.address == txt("address"),
        literal_column("state IN ('queued', 'sending')"),
    )
    .limit(literal_column("1"))
)

# Write the reply down; the same ordinal of the same event twice is nothing.
PUT = Query(
    insert(outbox)
    .values(
        event_seq=num("event_seq"),
        ordinal=txt("ordinal"),
        thread_key=txt("thread_key"),
        channel=txt("channel"),
        address=txt("address"),
        kind=txt("kind"),
        payload=txt("payload"),
        state=txt("state"),
        attempts=num("attempts"),
        lease_owner=txt("owner"),
        lease_until=num("until"),
        created_at=num("now"),
    )
    .on_conflict_do_nothing()
    .returning(_o.id)
)

SHOWN = Query(
    select(progress.c.shown).where(
        progress.c.event_seq == num("seq"), progress.c.address == txt("address")
    )
)

# Replies that may go next: the first of their lane, by a channel that has room.
_slash = literal_column("'/'", Text)
_has_room = func.replace(txt("full"), _slash + _o.channel + _slash, "") == txt("full")
_first = and_(
    _o.state == const("queued"),
    _has_room,
    ~exists().where(
        _early.c.thread_key == _o.thread_key,
        _early.c.address == _o.address,
        literal_column("early.state IN ('queued', 'sending')"),
        _early.c.id < _o.id,
    ),
)
_due = (
    select(_o.id)
    .where(_first, _o.next_at <= num("now"))
    .order_by(_o.id)
    .limit(bindparam("free", type_=Integer()))
    .with_for_update(skip_locked=True, of=outbox)
)

# The oldest reply of each lane that is due.
TAKE = Query(
    update(outbox)
    .where(_o.id.in_(_due))
    .values(
        state=const("sending"),
        attempts=_o.attempts + literal_column("1"),
        lease_owner=txt("owner"),
        lease_until=num("until"),
    )
    .returning(_o.id)
)

_shown = (
    select(progress.c.shown)
    .where(progress.c.event_seq == _o.event_seq, progress.c.address == _o.address)
    .scalar_subquery()
    .label("shown")
)
ROW = Query(select(outbox, _shown).where(_o.id == num("i")))

# Replies that were on their way when their daemon died.
DOUBTFUL = Query(
    select(outbox, _shown)
    .where(
        literal_column("state IN ('queued', 'sending')"),  # so that the lanes' index is used
        _o.state == const("sending"),
        _o.lease_owner.is_distinct_from(txt("owner")),
        or_(num("all") == literal_column("1"), _o.lease_until < num("now")),
    )
    .order_by(_o.id)
)
ADOPT = Query(
    update(outbox)
    .where(_o.id == num("i"), _o.state == const("sending"))
    .values(lease_owner=txt("owner"), lease_until=num("until"))
)

NEXT_DUE = Query(select(func.min(_o.next_at)).where(_first))

# Let a reply go: sent, queued again, or dead.
END = Query(
    update(outbox)
    .where(_o.id == num("i"), literal_column("state IN ('sending', 'queued')"))
    .values(
        state=txt("to"),
        receipt=txt("receipt"),
        next_at=num("at"),
        last_error=txt("error"),
        ended_at=num("ended"),
        lease_owner=None,
        lease_until=None,
    )
)

# A schedule's firing is told what became of its report.
DELIVERED = Query(
    update(firing).where(firing.c.event_seq == num("seq")).values(delivery=txt("delivery"))
)

UNSEND = Query(
    update(outbox)
    .where(_o.id == num("i"), _o.state == const("sending"))
    .values(
        state=const("queued"),
        attempts=_o.attempts - literal_column("1"),
        lease_owner=None,
        lease_until=None,
    )
)


class Outbox(Part):
    _full: frozenset[str] = frozenset()

    def hold_back(self, channels: frozenset[str]) -> None:
        """Leave replies by these channels where they are: they are busy with what they have."""
        if channels != self._full:
            self._full = channels
            self._no_mail = False

    async def post(self, outgoing: Outgoing, *, event_seq: int, thread_key: str) -> bool:
        """Queue a message; False when this ordinal of this event is queued already."""

        def put(s: Session) -> bool:
            return self.put_reply(s, event_seq, thread_key, outgoing, hand=False) is not None

        new = await self.db.run(put, lane=thread_key, late=self.wake_mail)
        if new:
            self.wake_mail()
        return new

    def put_reply(
        self, s: Session, seq: int, thread_key: str, outgoing: Outgoing, *, hand: bool
    ) -> Reply | None:
        """Write a reply within an open transaction; None when it is there already."""
        channel = outgoing.address.partition(":")[0]
        free = hand and channel not in self._full and len(self._handed) < MOST_HANDED
        hand = free and s.one(LANE, k=thread_key, address=outgoing.address) is None
        reply_id = s.change(
            PUT,
            event_seq=seq,
            ordinal=outgoing.ordinal,
            thread_key=thread_key,
            channel=channel,
            address=outgoing.address,
            kind=outgoing.kind,
            payload=outgoing_payload(outgoing),
            state="sending" if hand else "queued",
            attempts=int(hand),
            owner=self.owner if hand else None,
            until=s.lease_now() + self.lease if hand else None,
            now=s.now,
        )
        if reply_id is None:
            return None
        return Reply(
            id=reply_id[0],
            event_seq=seq,
            ordinal=outgoing.ordinal,
            thread_key=thread_key,
            address=outgoing.address,
            text=outgoing.text,
            kind=outgoing.kind,
            attempts=int(hand),
            wait=outgoing.wait,
            attachments=outgoing.attachments,
            shown=s.scalar(SHOWN, seq=seq, address=outgoing.address) if hand else None,
        )

    def hand_over(self, replies: list[Reply]) -> None:
        """Give the courier what a transaction left in `sending`, and let it look for the rest."""
        on_their_way = [reply for reply in replies if reply.attempts]
        self._handed.extend(on_their_way)
        if len(on_their_way) < len(replies):
            self._no_mail = False
        if replies:
            self.mail.set()

    async def take_replies(self, limit: int) -> list[Reply]:
        """Up to `limit` replies to send now, one of each lane; they are `sending` from here on."""
        if self._handed:
            return [self._handed.popleft() for _ in range(min(limit, len(self._handed)))]
        if limit <= 0 or self.nothing_before(self._no_mail, self._mail_due):
            return []
        self._no_mail = self.alone
        taken, due = await self.db.run(
            lambda s: self._take(s, limit), late=lambda took: self.hand_over(took[0])
        )
        self._mail_due = due
        if len(taken) >= limit:
            self._no_mail = False
        return taken

    def _take(self, s: Session, limit: int) -> tuple[list[Reply], int | None]:
        until = s.lease_now() + self.lease
        full = _listed(self._full)
        ids = s.changes(TAKE, now=s.now, free=limit, owner=self.owner, until=until, full=full)
        rows = (s.one(ROW, i=row[0]) for row in sorted(ids, key=lambda row: int(row[0])))
        due = s.scalar(NEXT_DUE, full=full) if len(ids) < limit else s.now
        return [reply_from(row) for row in rows], due

    async def next_reply_due(self) -> int | None:
        """When the next queued reply may be tried, ms UTC; 0 or the past: now."""
        if self._no_mail:
            return self._mail_due
        if self.nothing_before(self._no_mail, self._mail_due):
            return self._mail_due  # the last look at the outbox said so
        full = _listed(self._full)
        return await self.db.run(lambda s: s.scalar(NEXT_DUE, full=full), durable=False)

    async def doubtful(self) -> list[Reply]:
        """Replies that a dead daemon was sending; look for each before it goes out again."""

        def find(s: Session) -> list[Reply]:
            now = s.lease_now()
            rows = s.all(DOUBTFUL, all=int(self.alone), now=now, owner=self.owner)
            for row in rows:
                s.run(ADOPT, i=row["id"], owner=self.owner, until=now + self.lease)
            return [reply_from(row) for row in rows]

        return await self.db.run(find)

    async def sent(self, reply: Reply, receipt: Receipt) -> None:
        """The destination has it. What answers it in another thread finds this text there."""

        def end(s: Session) -> bool:
            s.run(END, i=reply.id, to="sent", receipt=receipt.id, at=0, error=None, ended=s.now)
            if reply.kind not in ("ask", "decided") and reply.thread_key.startswith("schedule/"):
                s.run(DELIVERED, seq=reply.event_seq, delivery="sent")
            if receipt.thread_key and receipt.thread_key != reply.thread_key:
                seed_thread(s, reply, receipt.thread_key)
            return s.one(LANE, k=reply.thread_key, address=reply.address) is not None

        # Not synced by itself: a lost receipt makes the reply doubtful, and it is looked up.
        if await self.db.run(end, durable=False, lane=reply.thread_key, late=self.wake_mail):
            self.wake_mail()

    async def resend(self, reply: Reply, error: str, *, at: int) -> None:
        """It did not go out this time; try it again at `at` (ms UTC)."""
        await self.db.run(
            lambda s: s.run(
                END, i=reply.id, to="queued", receipt=None, at=at, error=error, ended=None
            ),
            lane=reply.thread_key,
        )
        self.wake_mail()

    async def undeliverable(self, reply: Reply, error: str) -> None:
        """It will never arrive; the thread's next run is told."""

        def end(s: Session) -> None:
            s.run(END, i=reply.id, to="dead", receipt=None, at=0, error=error, ended=s.now)
            if reply.kind != "decided":  # its card was delivered
                s.run(DELIVERED, seq=reply.event_seq, delivery="dead")
                note(s, reply.id, reply.thread_key)

        await self.db.run(end, lane=reply.thread_key)
        self.wake_mail()

    async def unsend_handed(self) -> None:
        """Queue again what the courier never took; called before the store closes."""
        left, self._handed = list(self._handed), type(self._handed)()

        def put_back(s: Session) -> None:
            for reply in left:
                s.run(UNSEND, i=reply.id)

        if left:
            await self.db.run(put_back)


def _listed(channels: frozenset[str]) -> str:
    """Names as one text in which each can be found: `/mail/slack/`."""
    return f"/{'/'.join(sorted(channels))}/" if channels else ""
