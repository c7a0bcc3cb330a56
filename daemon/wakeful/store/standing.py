"""What is known of a call before anybody is asked about it."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import select

from wakeful.store import schema
from wakeful.store.codec import request_from
from wakeful.store.part import Part
from wakeful.store.query import Query, Session
from wakeful.store.settling import GRANTED, grant_name
from wakeful.store.words import const, num, txt

wait, pin = schema.wait, schema.pin

Standing = Literal["new", "asked", "expired", "granted"]

# What this event asked about such calls.
BEFORE = Query(
    select(wait.c.request, wait.c.state, wait.c.decided_by).where(
        wait.c.event_seq == num("s"), wait.c.args_digest == txt("d")
    )
)
GRANTS = Query(select(pin.c.digest).where(pin.c.kind == const(GRANTED), pin.c.name == txt("name")))


class Standings(Part):
    async def standing(
        self,
        *,
        thread_key: str,
        graph_id: str,
        event_seq: int,
        principal: str,
        tool: str,
        digest: str,
        call: str,
    ) -> Standing:
        """Asked: there is a question of this very call; expired: nobody answered one like it."""

        def look(s: Session) -> Standing:
            before = s.all(BEFORE, s=event_seq, d=digest)
            if any(request_from(row["request"]).call == call for row in before):
                return "asked"
            if any(row["decided_by"] == "" for row in before):
                return "expired"
            name = grant_name(thread_key, tool, principal)
            return "granted" if s.scalar(GRANTS, name=name) == graph_id else "new"

        return await self.db.run(look, durable=False)
