"""The journal of side effects: an intention is on disk before the call, its outcome after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from wakeful.errors import LeaseLost
from wakeful.events import EffectState
from wakeful.store import schema
from wakeful.store.part import Part
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import const, num, txt

effect, thread = schema.effect, schema.thread
_e = effect.c

# The fence check, in the transaction of the intention.
HELD = Query(
    select(thread.c.thread_key)
    .where(
        thread.c.thread_key == txt("k"),
        thread.c.fence == num("f"),
        thread.c.state == const("running"),
    )
    .with_for_update()
)

BEGIN = Query(
    insert(effect)
    .values(
        call_key=txt("call_key"),
        event_seq=num("event_seq"),
        thread_key=txt("thread_key"),
        tool=txt("tool"),
        args_digest=txt("digest"),
        state=const("started"),
        fence=num("fence"),
        started_at=num("now"),
    )
    .on_conflict_do_nothing()
)

FIND = Query(select(effect).where(_e.call_key == txt("c")))

# A call that was begun and never ended: it may have happened, and is not repeated.
DOUBT = Query(
    update(effect)
    .where(_e.call_key == txt("c"), _e.state == const("started"))
    .values(state=const("unknown"), done_at=num("now"))
)

END = Query(
    update(effect)
    .where(_e.call_key == txt("c"), _e.state == const("started"))
    .values(state=txt("to"), result=txt("what"), done_at=num("now"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """One journaled call."""

    key: str
    event_seq: int
    thread_key: str
    tool: str
    args_digest: str
    state: EffectState
    result: str | None
    started_at: int
    done_at: int | None


class Effects(Part):
    async def begin_effect(
        self, *, thread_key: str, fence: int, key: str, event_seq: int, tool: str, digest: str
    ) -> EffectRow | None:
        """None: the intention is on disk, go ahead. A row: it was begun before; do not do it again.

        Raises LeaseLost when the claim is not ours any more.
        """

        def begin(s: Session) -> EffectRow | None:
            if s.one(HELD, k=thread_key, f=fence) is None:
                raise LeaseLost
            new: dict[str, Any] = {
                "call_key": key,
                "event_seq": event_seq,
                "thread_key": thread_key,
                "tool": tool,
                "digest": digest,
                "fence": fence,
                "now": s.now,
            }
            if s.run(BEGIN, **new):
                return None
            s.run(DOUBT, c=key, now=s.now)
            return effect_from(s.one(FIND, c=key))

        return await self.db.run(begin, lane=thread_key)

    async def end_effect(self, key: str, state: EffectState, result: str | None) -> None:
        """Record how the call ended; one that was declared unknown meanwhile stays so."""
        await self.db.run(lambda s: s.run(END, c=key, to=state, what=result, now=s.now))


def effect_from(row: Row) -> EffectRow:
    return EffectRow(
        key=row["call_key"],
        event_seq=row["event_seq"],
        thread_key=row["thread_key"],
        tool=row["tool"],
        args_digest=row["args_digest"],
        state=row["state"],
        result=row["result"],
        started_at=row["started_at"],
        done_at=row["done_at"],
    )
