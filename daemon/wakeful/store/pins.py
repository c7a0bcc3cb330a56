"""What a person has seen and accepted, by its digest: who did, and when."""

from __future__ import annotations

from sqlalchemy import insert as plain_insert
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from wakeful.events import rfc3339
from wakeful.store import schema
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.view import Views
from wakeful.store.words import num, txt

pin, audit = schema.pin, schema.audit

_put = insert(pin).values(
    kind=txt("kind"), name=txt("name"), digest=txt("digest"), by=txt("by"), at=num("now")
)
PUT = Query(
    _put.on_conflict_do_update(
        index_elements=["kind", "name"],
        set_={
            "digest": _put.excluded.digest,
            "by": _put.excluded["by"],
            "at": _put.excluded["at"],
        },
    )
)
ALL = Query(select(pin).where(pin.c.kind == txt("kind")).order_by(pin.c.name))
SAY = Query(
    plain_insert(audit).values(
        at=num("now"),
        principal=txt("by"),
        action=txt("action"),
        subject=txt("name"),
        detail=txt("digest"),
    )
)


class Pins(Part):
    async def pin(self, kind: str, name: str, digest: str, *, by: str) -> None:
        """Record that somebody has seen this version; it replaces the one before."""

        def write(s: Session) -> None:
            s.run(PUT, kind=kind, name=name, digest=digest, by=by, now=s.now)
            s.run(SAY, action=f"{kind}_accepted", name=name, digest=digest, by=by, now=s.now)

        await self.db.run(write)


async def pinned(view: Views, kind: str) -> dict[str, dict[str, str]]:
    """Every pin of a kind, by name: digest, by whom, and when."""
    rows = await view.read(lambda s: s.all(ALL, kind=kind))
    return {
        row["name"]: {
            "digest": row["digest"],
            "by": row["by"],
            "at": rfc3339(row["at"]) or "",
        }
        for row in rows
    }
