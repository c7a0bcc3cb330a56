"""What is forgotten, and when: the store stays as large as what is still needed.

Nothing that is queued, on its way, waiting or claimed is touched, whatever its age. Rows go in
small batches, so that an accept never waits long behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import (
    Delete,
    Integer,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    func,
    select,
    update,
)
from sqlalchemy.sql.elements import ColumnElement, literal_column

from wakeful.store import schema
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.words import const, num, txt

DAY = 86_400_000  # ms
BATCH = 500  # rows in one transaction
PAGES = 2_000  # given back to the file system in one transaction

inbox, identity, outbox, thread = schema.inbox, schema.identity, schema.outbox, schema.thread
wait, effect, message, step = schema.wait, schema.effect, schema.message, schema.step
firing, progress, audit, usage = schema.firing, schema.progress, schema.audit, schema.usage
_before, _cutoff = num("before"), num("cutoff")
END = 1 << 62  # of all numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """Days that things are kept after they ended."""

    payloads: int = 30
    identities: int = 90  # longer than any source sends something again
    sent: int = 30
    effects: int = 30
    messages: int = 365
    steps: int = 30


def _some(column: ColumnElement[object], where: ColumnElement[bool]) -> ColumnElement[bool]:
    table = column.table
    some = select(column).select_from(table).where(where).limit(bindparam("n", type_=Integer()))
    return column.in_(some)


def _drop(column: ColumnElement[object], where: ColumnElement[bool]) -> Query:
    gone: Delete = delete(column.table).where(_some(column, where))
    return Query(gone)


def _empty(column: ColumnElement[object], where: ColumnElement[bool]) -> Query:
    table = column.table
    emptied: Update = update(table).where(_some(column, where)).values(payload=const(""))
    return Query(emptied)


# The first event that is too young: rows are in order of arrival, nothing behind it is read.
CUTOFF = Query(
    select(inbox.c.seq)
    .where(inbox.c.received_at >= _before)
    .order_by(inbox.c.seq)
    .limit(literal_column("1"))
)


# Is the event of this row still being worked on?
def _open_event(seq: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(inbox.c.seq == seq, inbox.c.done_at.is_(None))


_ended = and_(inbox.c.seq < _cutoff, inbox.c.done_at.is_not(None), inbox.c.done_at < _before)
_waiting = exists().where(
    wait.c.event_seq == inbox.c.seq, literal_column("wait.state IN ('open', 'decided')")
)
_unsent = exists().where(
    outbox.c.event_seq == inbox.c.seq,
    literal_column("outbox.state IN ('held', 'queued', 'sending')"),
)
_forgettable = and_(_ended, ~_waiting, ~_unsent)
_nameless = delete(identity).where(
    identity.c.seq < _cutoff,
    exists().where(inbox.c.seq == identity.c.seq, _forgettable),
)
_delivered = and_(
    outbox.c.event_seq < _cutoff,
    outbox.c.ended_at < _before,
    outbox.c.tell.is_(None),
    ~_open_event(outbox.c.event_seq),
)
# Nobody wrote in its thread for so long that it will not be told any more.
_never_told = and_(
    outbox.c.event_seq < _cutoff,
    outbox.c.ended_at < _before,
    outbox.c.tell.is_not(None),
    ~_open_event(outbox.c.event_seq),
    ~_open_event(outbox.c.told_by),
)
_closed_waits = and_(
    wait.c.event_seq < _cutoff,
    literal_column("state IN ('applied', 'expired', 'cancelled')"),
    ~_open_event(wait.c.event_seq),
)
_old_effects = and_(
    effect.c.event_seq < _cutoff, effect.c.done_at < _before, ~_open_event(effect.c.event_seq)
)
_old_steps = and_(step.c.event_seq < _cutoff, ~_open_event(step.c.event_seq))

# What is cleared, which part of the policy it follows, and the statement that removes some rows.
RULES: tuple[tuple[str, str, Query], ...] = (
    ("payloads", "payloads", _empty(inbox.c.seq, and_(_ended, inbox.c.payload != const("")))),
    ("replies", "sent", _drop(outbox.c.id, _delivered)),
    ("untold", "messages", _drop(outbox.c.id, _never_told)),
    ("effects", "effects", _drop(effect.c.call_key, _old_effects)),
    ("steps", "steps", Query(delete(step).where(_old_steps))),
    ("messages", "messages", _drop(message.c.id, message.c["at"] < _before)),
    ("waits", "steps", _drop(wait.c.wait_id, _closed_waits)),
    ("audit", "messages", _drop(audit.c.id, audit.c["at"] < _before)),
    ("usage", "messages", _drop(usage.c.id, usage.c["at"] < _before)),
    ("identities", "identities", Query(_nameless)),
    ("events", "identities", _drop(inbox.c.seq, _forgettable)),
)

# The newest firing of a schedule stays, it is what the next one is counted from.
_newer = firing.alias("newer")
FIRINGS = Query(
    delete(firing).where(
        firing.c.ended_at.is_not(None),
        firing.c.ended_at < _before,
        exists().where(_newer.c.name == firing.c.name, _newer.c.due_at > firing.c.due_at),
    )
)
PROGRESS = Query(
    delete(progress).where(progress.c["at"] < _before, ~_open_event(progress.c.event_seq))
)


# How many replies each thread is still to be told of.
RECOUNT = Query(
    update(thread)
    .where(thread.c.notes > literal_column("0"))
    .values(
        notes=select(func.count())
        .select_from(outbox)
        .where(outbox.c.tell == thread.c.thread_key)
        .scalar_subquery()
    )
)

# Graph threads that their conversation has left for a new one (/new, `thread: fresh`).
_saved, _written = schema.checkpoints, schema.writes
ABANDONED = Query(
    select(_saved.c.thread_id)
    .distinct()
    .where(_saved.c.thread_id.not_in(select(thread.c.graph_id)))
    .limit(bindparam("n", type_=Integer()))
)
DROP_CHECKPOINTS = Query(delete(_saved).where(_saved.c.thread_id == txt("g")))
DROP_WRITES = Query(delete(_written).where(_written.c.thread_id == txt("g")))


class Retaining(Part):
    async def retain(self, policy: RetentionPolicy, now: int) -> dict[str, int]:
        """Forget what is older than the policy says; returns what was cleared, counted."""
        counts: dict[str, int] = {}
        for name, days, query in RULES:
            before = now - getattr(policy, days) * DAY
            counts[name] = await self._until_done(_batch(query, before))
        if counts["untold"]:
            await self.db.run(lambda s: s.run(RECOUNT))
        before = now - policy.steps * DAY
        counts["firings"] = await self.db.run(lambda s: s.run(FIRINGS, before=before))
        counts["progress"] = await self.db.run(lambda s: s.run(PROGRESS, before=before))
        if self.db.dialect == "sqlite":  # on PostgreSQL the tables are LangGraph's own
            counts["checkpoints"] = await self._until_done(_abandoned)
            counts["pages"] = await self._shrink()
        return counts

    async def _until_done(self, batch: Callable[[Session], int]) -> int:
        total = 0
        while (count := await self.db.run(batch, durable=False)) > 0:
            total += count
        return total

    async def _shrink(self) -> int:
        """Give free pages back to the file system, and fold the write-ahead log into the file."""
        freed = await self._until_done(_vacuum)
        await self.db.fold_log()
        return freed


def _batch(query: Query, before: int) -> Callable[[Session], int]:
    def some(s: Session) -> int:
        cutoff = s.scalar(CUTOFF, before=before)
        return s.run(query, before=before, cutoff=END if cutoff is None else cutoff, n=BATCH)

    return some


def _abandoned(s: Session) -> int:
    """A few at a time: one graph thread may have thousands of rows."""
    left = [row[0] for row in s.all(ABANDONED, n=10)]
    for graph in left:
        s.run(DROP_WRITES, g=graph)
    return sum(s.run(DROP_CHECKPOINTS, g=graph) for graph in left)


def _vacuum(s: Session) -> int:
    free: int = s.raw.execute("PRAGMA freelist_count").fetchone()[0]
    s.raw.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
    left: int = s.raw.execute("PRAGMA freelist_count").fetchone()[0]
    return free - left
