"""Small things that a channel remembers: its positions, and what it already shows of an answer."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from wakeful.store import schema
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.words import num, txt

cursor, progress = schema.cursor, schema.progress

_put = insert(cursor).values(
    channel=txt("channel"), key=txt("key"), value=txt("value"), at=num("now")
)
PUT = Query(
    _put.on_conflict_do_update(
        index_elements=["channel", "key"],
        set_={"value": _put.excluded.value, "at": _put.excluded["at"]},
    )
)
GET = Query(
    select(cursor.c.value).where(cursor.c.channel == txt("channel"), cursor.c.key == txt("key"))
)

_show = insert(progress).values(
    event_seq=num("event_seq"), address=txt("address"), shown=txt("shown"), at=num("now")
)
SHOW = Query(
    _show.on_conflict_do_update(
        index_elements=["event_seq", "address"],
        set_={"shown": _show.excluded.shown, "at": _show.excluded["at"]},
    )
)


def put_cursor(s: Session, channel: str, key: str, value: str) -> None:
    s.run(PUT, channel=channel, key=key, value=value, now=s.now)


class Cursors(Part):
    async def cursor(self, channel: str, key: str) -> str | None:
        return await self.db.run(lambda s: s.scalar(GET, channel=channel, key=key), durable=False)

    async def advance(self, channel: str, key: str, value: str) -> None:
        await self.db.run(lambda s: put_cursor(s, channel, key, value))

    async def shown(self, event_seq: int, address: str, id: str) -> None:
        """Record what a channel already shows of an unfinished answer."""
        await self.db.run(
            lambda s: s.run(SHOW, event_seq=event_seq, address=address, shown=id, now=s.now)
        )
