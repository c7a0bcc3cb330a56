"""Schedules: what is stored of each rule, and which is due."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from wakeful.store import schema
from wakeful.store.firings import Firings
from wakeful.store.part import num, txt
from wakeful.store.query import Query, Row, Session

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
            for column in ("origin", "spec", "digest", "anchor", "next_at", "updated_at")
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
NEXT = Query(select(func.min(schedule.c.next_at)).where(*_armed))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """A schedule as it is stored. `next_at` None: it does not fire any more."""

    name: str
    spec: str  # JSON
    digest: str
    anchor: int  # where its intervals count from, ms UTC
    next_at: int | None
    origin: str = "file"
    owner: str = ""
    paused_at: int | None = None


class Schedules(Firings):
    async def schedule_rows(self) -> list[ScheduleRow]:
        """Every schedule, also those that do not fire any more."""
        return [_row(row) for row in await self.db.run(lambda s: s.all(ALL), durable=False)]

    async def sync_schedules(
        self, rows: Sequence[ScheduleRow], *, keep: Collection[str] = ()
    ) -> list[str]:
        """Store these and disarm what else came from a file, but for `keep`; the names disarmed."""
        return await self.db.run(lambda s: _sync(s, rows, set(keep)))

    async def due_schedules(self, now: int) -> list[ScheduleRow]:
        """Those whose time has come, the most overdue first."""
        found = await self.db.run(lambda s: s.all(DUE, now=now), durable=False)
        return [_row(row) for row in found]

    async def next_schedule_due(self) -> int | None:
        """When the next one is due, ms UTC."""
        due: int | None = await self.db.run(lambda s: s.scalar(NEXT), durable=False)
        return due


def _sync(s: Session, rows: Sequence[ScheduleRow], keep: set[str]) -> list[str]:
    for row in rows:
        s.run(
            PUT,
            name=row.name,
            origin=row.origin,
            owner=row.owner,
            spec=row.spec,
            digest=row.digest,
            anchor=row.anchor,
            next_at=row.next_at,
            now=s.now,
        )
    keep |= {row.name for row in rows}
    gone = [
        row["name"]
        for row in s.all(ALL)
        if row["origin"] == "file" and row["digest"] and row["name"] not in keep
    ]
    for name in gone:
        s.run(DISARM, k=name, now=s.now)
    return gone


def _row(row: Row) -> ScheduleRow:
    return ScheduleRow(**{field: row[field] for field in ScheduleRow.__dataclass_fields__})
