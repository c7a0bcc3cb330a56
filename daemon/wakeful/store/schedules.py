"""Schedules: what is stored of each rule, and which is due."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from wakeful.store import schema
from wakeful.store.firings import Firings
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import num, txt

schedule = schema.schedule

_put = insert(schedule).values(
    name=txt("name"),
    origin=txt("origin"),
    owner=txt("owner"),
    spec=txt("spec"),
    digest=txt("digest"),
    anchor=num("anchor"),
    next_at=num("next_at"),
    updated_at=num("now"),
)
PUT = Query(
    _put.on_conflict_do_update(
        index_elements=["name"],
        set_={
            column: _put.excluded[column]
            for column in ("origin", "owner", "spec", "digest", "anchor", "next_at", "updated_at")
        },
    )
)

# What is known of every schedule.
ALL = Query(select(schedule).order_by(schedule.c.name))

# A schedule whose file is gone: it never fires, and begins anew if the file comes back.
DISARM = Query(
    update(schedule)
    .where(schedule.c.name == txt("k"))
    .values(next_at=None, digest="", updated_at=num("now"))
)

_armed = (schedule.c.next_at.is_not(None), schedule.c.paused_at.is_(None))
DUE = Query(
    select(schedule).where(*_armed, schedule.c.next_at <= num("now")).order_by(schedule.c.next_at)
)
NEXT = Query(select(func.min(schedule.c.next_at)).where(*_armed, schedule.c.next_at > num("now")))

# A schedule that a person made by chat and does not want any more.
DROP = Query(delete(schedule).where(schedule.c.name == txt("k")))
PAUSE = Query(
    update(schedule)
    .where(schedule.c.name == txt("k"))
    .values(paused_at=num("at"), next_at=num("then"), updated_at=num("now"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """A schedule as it is stored. `next_at` None: it does not fire any more."""

    name: str
    spec_json: str
    digest: str  # of when it fires
    next_at: int | None  # ms UTC
    origin: str = "file"  # or chat
    owner: str = ""
    anchor: int | None = None  # where its intervals count from, ms UTC
    paused_at: int | None = None


class Schedules(Firings):
    async def schedule_rows(self) -> list[ScheduleRow]:
        """Every schedule, also those that do not fire any more."""
        return await self.db.run(
            lambda s: [schedule_from(row) for row in s.all(ALL)], durable=False
        )

    async def sync_schedules(
        self, rows: Sequence[ScheduleRow], *, keep: Collection[str] = ()
    ) -> list[str]:
        """Store these and disarm what else came from a file, but for `keep`; the names disarmed."""
        return await self.db.run(lambda s: _sync(s, rows, {row.name for row in rows} | set(keep)))

    async def put_schedule(self, row: ScheduleRow) -> None:
        """Write one schedule down; its pause stays as it is."""
        await self.db.run(lambda s: put_schedule(s, row))

    async def drop_schedule(self, name: str) -> bool:
        return await self.db.run(lambda s: s.run(DROP, k=name) == 1)

    async def pause_schedule(self, name: str, at: int | None, *, next_at: int | None) -> bool:
        """Pause at a moment, or (None) go on with the next time given."""
        return await self.db.run(
            lambda s: s.run(PAUSE, k=name, at=at, then=next_at, now=s.now) == 1
        )

    async def due_schedules(self, now: int) -> list[ScheduleRow]:
        """Those whose time has come, the most overdue first."""
        return await self.db.run(
            lambda s: [schedule_from(row) for row in s.all(DUE, now=now)], durable=False
        )

    async def next_schedule_due(self, *, after: int = -1) -> int | None:
        """When the next one is due, ms UTC; those due until `after` are passed over."""
        return await self.db.run(lambda s: s.scalar(NEXT, now=after), durable=False)


def put_schedule(s: Session, row: ScheduleRow) -> None:
    """Write one schedule down within an open transaction."""
    s.run(
        PUT,
        name=row.name,
        origin=row.origin,
        owner=row.owner,
        spec=row.spec_json,
        digest=row.digest,
        anchor=row.anchor,
        next_at=row.next_at,
        now=s.now,
    )


def _sync(s: Session, rows: Sequence[ScheduleRow], keep: Collection[str]) -> list[str]:
    for row in rows:
        put_schedule(s, row)
    gone = [
        row["name"]
        for row in s.all(ALL)
        if row["origin"] == "file" and row["digest"] and row["name"] not in keep
    ]
    for name in gone:
        s.run(DISARM, k=name, now=s.now)
    return gone


def schedule_from(row: Row) -> ScheduleRow:
    return ScheduleRow(
        name=row["name"],
        spec_json=row["spec"],
        digest=row["digest"],
        next_at=row["next_at"],
        origin=row["origin"],
        owner=row["owner"],
        anchor=row["anchor"],
        paused_at=row["paused_at"],
    )
