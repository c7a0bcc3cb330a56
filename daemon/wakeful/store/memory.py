"""What is kept beside conversations: memories, artefacts, and what a person has seen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from wakeful.store import schema
from wakeful.store.part import Part
from wakeful.store.query import Query, Row, Session
from wakeful.store.words import num, txt

memory, artefact, pin = schema.memory, schema.artefact, schema.pin

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

KEEP = Query(
    insert(artefact)
    .values(
        id=txt("id"),
        name=txt("name"),
        media_type=txt("media_type"),
        size=num("size"),
        digest=txt("digest"),
        event_seq=num("event_seq"),
        created_at=num("now"),
    )
    .on_conflict_do_nothing()
)
KEPT = Query(select(artefact).where(artefact.c.id == txt("i")))

_pin = insert(pin).values(
    kind=txt("kind"), name=txt("name"), digest=txt("digest"), by=txt("who"), at=num("now")
)
PIN = Query(
    _pin.on_conflict_do_update(
        index_elements=["kind", "name"],
        set_={name: _pin.excluded[name] for name in ("digest", "by", "at")},
    )
)
PINNED = Query(select(pin.c.digest).where(pin.c.kind == txt("k"), pin.c.name == txt("n")))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One line of somebody's memory; `untrusted`: outside text was in the thread that wrote it."""

    owner: str
    path: str
    text: str
    untrusted: bool
    event_seq: int | None
    written_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtefactRow:
    """What is known of a stored file; its bytes lie beside the database."""

    id: str
    name: str
    media_type: str
    size: int
    digest: str
    created_at: int


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

    async def keep_artefact(self, row: ArtefactRow, *, event_seq: int | None = None) -> None:
        """Describe a file whose bytes are on disk already; the same id twice is nothing."""
        await self.db.run(
            lambda s: s.run(
                KEEP,
                id=row.id,
                name=row.name,
                media_type=row.media_type,
                size=row.size,
                digest=row.digest,
                event_seq=event_seq,
                now=row.created_at,
            )
        )

    async def artefact(self, id: str) -> ArtefactRow | None:
        def find(s: Session) -> ArtefactRow | None:
            row = s.one(KEPT, i=id)
            return None if row is None else _artefact_from(row)

        return await self.db.run(find, durable=False)

    async def pin(self, kind: str, name: str, digest: str, *, by: str) -> None:
        """Record that a person has seen this version."""
        await self.db.run(
            lambda s: s.run(PIN, kind=kind, name=name, digest=digest, who=by, now=s.now)
        )

    async def pinned(self, kind: str, name: str) -> str | None:
        return await self.db.run(lambda s: s.scalar(PINNED, k=kind, n=name), durable=False)


def _memory_from(row: Row) -> MemoryRow:
    return MemoryRow(
        owner=row["owner"],
        path=row["path"],
        text=row["text"],
        untrusted=bool(row["untrusted"]),
        event_seq=row["event_seq"],
        written_at=row["written_at"],
    )


def _artefact_from(row: Row) -> ArtefactRow:
    return ArtefactRow(
        id=row["id"],
        name=row["name"],
        media_type=row["media_type"],
        size=row["size"],
        digest=row["digest"],
        created_at=row["created_at"],
    )
