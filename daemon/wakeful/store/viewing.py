"""The queries behind the pages and lists."""

from __future__ import annotations

from sqlalchemy import Integer, Label, Select, Table, and_, bindparam, case, func, or_, select
from sqlalchemy.sql.elements import literal_column

from wakeful.store import schema
from wakeful.store.codec import text_of
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import const, num, txt

inbox, thread, outbox, message = schema.inbox, schema.thread, schema.outbox, schema.message
wait, effect, step = schema.wait, schema.effect, schema.step
_i, _t, _o, _m, _e = inbox.c, thread.c, outbox.c, message.c, effect.c
_n = bindparam("n", type_=Integer())

# Threads, with the last thing that was said in each.
_last: Label[str] = (
    select(_m.text)
    .where(_m.thread_key == _t.thread_key)
    .order_by(_m.event_seq.desc(), _m.id.desc())
    .limit(literal_column("1"))
    .scalar_subquery()
    .label("last_text")
)
_threads = select(thread, _last)
_latest = (_t.updated_at.desc(), _t.thread_key.desc())
THREAD = Query(_threads.where(_t.thread_key == txt("k")))
THREADS = Query(_threads.order_by(*_latest).limit(_n))
_mark = thread.alias("mark")
_mark_at = select(_mark.c.updated_at).where(_mark.c.thread_key == txt("k")).scalar_subquery()
THREADS_BEFORE = Query(
    _threads.where(
        or_(
            _t.updated_at < _mark_at,
            and_(_t.updated_at == _mark_at, _t.thread_key < txt("k")),
        )
    )
    .order_by(*_latest)
    .limit(_n)
)

_messages = (
    select(message)
    .where(_m.thread_key == txt("k"))
    .order_by(_m.event_seq.desc(), _m.id.desc())
    .limit(_n)
)
MESSAGES = Query(_messages)
MESSAGES_BEFORE = Query(_messages.where(_m.event_seq < num("seq")))

# The state of an event as people see it.
_head = _t.head_seq == _i.seq
_shown: Label[str] = case(
    (and_(_i.state == const("queued"), _head, _t.state == const("running")), const("running")),
    (and_(_i.state == const("queued"), _head, _t.state == const("parked")), const("waiting")),
    (_i.state == const("dead"), const("failed")),
    (_i.state == const("skipped"), const("silent")),
    else_=_i.state,
).label("shown")
_said: Label[str] = (
    select(_m.text)
    .where(_m.thread_key == _i.thread_key, _m.event_seq == _i.seq, _m.role == const("user"))
    .order_by(_m.id)
    .limit(literal_column("1"))
    .scalar_subquery()
    .label("said")
)
_attempts = case((_head, _t.claims), else_=None).label("attempts")
_runs: Select[tuple[object, ...]] = (
    select(inbox, _shown, _said, _attempts)
    .join_from(inbox, thread, _t.thread_key == _i.thread_key, isouter=True)
    .where(_i.kind != const("decision"))
)
INPUT = Query(select(inbox).where(_i.seq == num("seq")))
RUN = Query(_runs.where(_i.seq == num("seq")))
RUNS = Query(_runs.order_by(_i.seq.desc()).limit(_n))
RUNS_IN = Query(_runs.where(_shown.element == txt("st")).order_by(_i.seq.desc()).limit(_n))

STEPS = Query(select(step).where(step.c.event_seq == num("seq")).order_by(step.c.fence, step.c.n))
REPLIES = Query(select(outbox).where(_o.event_seq == num("seq")).order_by(_o.id))
ANSWERS = Query(
    select(_o.payload, _o.address)
    .where(_o.event_seq == num("seq"), _o.kind.in_([const("answer"), const("notice")]))
    .order_by(_o.id)
)
SPOKEN = Query(
    select(_m.text)
    .where(_m.thread_key == txt("k"), _m.event_seq == num("seq"), _m.role == const("assistant"))
    .order_by(_m.id.desc())
    .limit(literal_column("1"))
)

WAITS = Query(select(wait).order_by(wait.c.created_at, wait.c.wait_id))
WAITS_IN = Query(
    select(wait).where(wait.c.state == txt("st")).order_by(wait.c.created_at, wait.c.wait_id)
)
WAITS_OF = Query(select(wait.c.wait_id).where(wait.c.event_seq == num("seq")))

_effects = select(effect).order_by(_e.started_at.desc()).limit(_n)
EFFECTS = Query(_effects)
EFFECTS_IN = Query(_effects.where(_e.state == txt("st")))
EFFECTS_OF = Query(select(effect).where(_e.event_seq == num("seq")).order_by(_e.started_at))

SCHEDULES = Query(
    select(schema.schedule)
    .where(schema.schedule.c.digest != const(""))
    .order_by(schema.schedule.c.name)
)
_firing = schema.firing.c
FIRED = Query(
    select(schema.firing)
    .where(_firing.name == txt("n"))
    .order_by(_firing.due_at.desc())
    .limit(literal_column("1"))
)


def _count(where: str, table: Table) -> Query:
    return Query(select(func.count()).select_from(table).where(literal_column(where)))


COUNTS = {
    "threads": Query(select(func.count()).select_from(thread)),
    "queued": Query(  # what runs or waits for a person has counts of its own
        select(func.count())
        .select_from(inbox)
        .join(thread, _t.thread_key == _i.thread_key, isouter=True)
        .where(_shown.element == const("queued"))
    ),
    "running": _count("state = 'running'", thread),
    "waits": _count("state = 'open'", wait),
    "replies": _count("state IN ('queued', 'sending')", outbox),
    "failed": _count("state = 'dead'", inbox),
    "undelivered": _count("state = 'dead'", outbox),
    "unknown_effects": _count("state = 'unknown'", effect),
}


def reply_text(s: Session, row: Row) -> str | None:
    """What the event was answered with: the part of its first address, else the last thing said."""
    if row["shown"] in ("queued", "running", "merged"):
        return None
    rows = s.all(ANSWERS, seq=row["seq"])
    parts = [text_of(one["payload"]) for one in rows if one["address"] == rows[0]["address"]]
    if any(parts):
        return "\n\n".join(part for part in parts if part)
    spoken: str | None = s.scalar(SPOKEN, k=row["thread_key"], seq=row["seq"])
    return spoken
