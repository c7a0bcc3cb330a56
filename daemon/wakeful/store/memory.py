"""What is remembered of somebody beyond a conversation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from wakeful.store import schema
from wakeful.store.part import Part
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import num, txt

memory = schema.memory

REMEMBER = Query(
    insert(memory)
    .values(
        owner=txt("owner"),
        path=txt("path"),
        text=txt("text"),
        digest=txt("digest"),
        untrusted=num("untrusted"),
        event_seq=num("event_seq"),
        written_at=num("now"),
    )
    .on_conflict_do_nothing()
)
RECALL = Query(
    select(memory)
    .where(memory.c.owner == txt("o"))
    .order_by(memory.c.event_seq, memory.c.written_at, memory.c.path)
)
FORGET = Query(delete(memory).where(memory.c.owner == txt("o"), memory.c.path == txt("p")))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One line of somebody's memory; `untrusted`: outside text was in the thread that wrote it."""

    owner: str
    path: str
    text: str
    untrusted: bool
    event_seq: int | None
    written_at: int


class Memory(Part):
    async def remember(
        self,
        owner: str,
        path: str,
        text: str,
        *,
        event_seq: int | None = None,
        untrusted: bool = False,
    ) -> bool:
        """Add a line to somebody's memory; False: this path is written already, nothing changes."""

        def write(s: Session) -> bool:
            new = s.run(
                REMEMBER,
                owner=owner,
                path=path,
                text=text,
                digest=hashlib.sha256(text.encode()).hexdigest(),
                untrusted=int(untrusted),
                event_seq=event_seq,
                now=s.now,
            )
            return new == 1

        return await self.db.run(write)

    async def memory(self, owner: str) -> list[MemoryRow]:
        """Everything that is remembered for somebody, oldest first."""
        return await self.db.run(
            lambda s: [_memory_from(row) for row in s.all(RECALL, o=owner)], durable=False
        )

    async def forget(self, owner: str, path: str) -> bool:
        return await self.db.run(lambda s: s.run(FORGET, o=owner, p=path) == 1)


def _memory_from(row: Row) -> MemoryRow:
    return MemoryRow(
        owner=row["owner"],
        path=row["path"],
        text=row["text"],
        untrusted=bool(row["untrusted"]),
        event_seq=row["event_seq"],
        written_at=row["written_at"],
    )
