"""LangGraph's checkpoints, as bytes: the statements behind the saver of `wakeful.agent`.

The tables have the shapes of langgraph-checkpoint-sqlite. They are written on the connection at
`synchronous=NORMAL`: the next durable commit of the engine makes everything before it durable too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wakeful.store.query import Session


class Checkpoint(NamedTuple):
    """One row: where a graph thread stood after one step."""

    thread_id: str
    ns: str
    id: str
    parent: str | None
    type: str
    blob: bytes
    metadata: bytes


class Write(NamedTuple):
    """What one task wrote on top of a checkpoint, one channel at a time."""

    thread_id: str
    ns: str
    checkpoint_id: str
    task_id: str
    task_path: str
    idx: int
    channel: str
    type: str
    blob: bytes


ROW = "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
PUT = f"INSERT OR REPLACE INTO checkpoints ({ROW}) VALUES (?, ?, ?, ?, ?, ?, ?)"
NEWEST = f"""
SELECT {ROW}
FROM checkpoints
WHERE thread_id = ? AND checkpoint_ns = ?
ORDER BY checkpoint_id DESC
LIMIT 1
"""
EXACT = f"""
SELECT {ROW}
FROM checkpoints
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""
HISTORY = f"""
SELECT {ROW}
FROM checkpoints
WHERE thread_id = ?
ORDER BY checkpoint_id DESC
"""
WRITE = "thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value"
PUT_WRITE = f"INTO writes ({WRITE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
WRITES = f"""
SELECT {WRITE}
FROM writes
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""
COUNT = "SELECT count(*) FROM checkpoints WHERE thread_id = ?"
FORGET = (
    "DELETE FROM checkpoints WHERE thread_id = ?",
    "DELETE FROM writes WHERE thread_id = ?",
)
KEEP_ONE = (
    "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_id <> ?",
    "DELETE FROM writes WHERE thread_id = ? AND checkpoint_id <> ?",
)


# A run that gets further after a crash is not what killed the daemon.
INNOCENT = "UPDATE thread SET crashes = 0 WHERE thread_key = ? AND fence = ?"


def put(session: Session, row: Checkpoint, *, innocent: tuple[str, int] | None = None) -> None:
    """Store a step; `innocent` is the thread's key and fence when it was there at a crash."""
    session.raw.execute(PUT, row)
    if innocent is not None:
        session.raw.execute(INNOCENT, innocent)
    session.writes += 1


def put_writes(session: Session, rows: Sequence[Write], *, replace: bool) -> None:
    """Store what a task wrote; a second attempt at the same task changes nothing unless told to."""
    verb = "INSERT OR REPLACE" if replace else "INSERT OR IGNORE"
    for row in rows:
        session.raw.execute(f"{verb} {PUT_WRITE}", row)
    session.writes += len(rows)


def newest(session: Session, thread_id: str, ns: str) -> Checkpoint | None:
    row = session.raw.execute(NEWEST, (thread_id, ns)).fetchone()
    return None if row is None else Checkpoint(*row)


def exact(session: Session, thread_id: str, ns: str, id: str) -> Checkpoint | None:
    row = session.raw.execute(EXACT, (thread_id, ns, id)).fetchone()
    return None if row is None else Checkpoint(*row)


def writes_on(session: Session, thread_id: str, ns: str, id: str) -> list[Write]:
    return [Write(*row) for row in session.raw.execute(WRITES, (thread_id, ns, id)).fetchall()]


def ancestors(session: Session, child: Checkpoint) -> Iterator[Checkpoint]:
    """The way back from a checkpoint to the root, nearest first."""
    walked = {child.id}
    while child.parent is not None and child.parent not in walked:
        walked.add(child.parent)
        found = exact(session, child.thread_id, child.ns, child.parent)
        if found is None:
            return
        yield found
        child = found


def history(session: Session, thread_id: str) -> list[Checkpoint]:
    return [Checkpoint(*row) for row in session.raw.execute(HISTORY, (thread_id,)).fetchall()]


def count(session: Session, thread_id: str) -> int:
    found: int = session.raw.execute(COUNT, (thread_id,)).fetchone()[0]
    return found


def forget(session: Session, thread_id: str) -> None:
    """Delete a graph thread with all that its sub-agents left."""
    for statement in FORGET:
        session.writes += max(session.raw.execute(statement, (thread_id,)).rowcount, 0)


def keep_one(session: Session, thread_id: str, id: str) -> int:
    """Delete every checkpoint of a graph thread but this one, which must hold the whole state."""
    gone: list[int] = [
        session.raw.execute(statement, (thread_id, id)).rowcount for statement in KEEP_ONE
    ]
    session.writes += sum(max(count, 0) for count in gone)
    return max(gone[0], 0)
