"""The crash table: what a graph thread holds, and what must be done with it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import Interrupt, StateSnapshot

from wakeful.events import Claim, Decision


@dataclass(frozen=True, slots=True)
class _Row:
    interrupts: tuple[Interrupt, ...] = ()  # pending now


@dataclass(frozen=True, slots=True)
class Start(_Row):
    """Nothing of this event is stored: begin with its message."""


@dataclass(frozen=True, slots=True)
class Resume(_Row):
    """Answer interrupts that are pending now; never any other id."""

    answers: Mapping[str, Decision] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Continue(_Row):
    """Tasks are left: let the graph go on."""


@dataclass(frozen=True, slots=True)
class Park(_Row):
    """It waits, and only the parking was lost."""


@dataclass(frozen=True, slots=True)
class Finish(_Row):
    """The answer is there, only our commit is missing."""

    values: dict[str, Any] = field(default_factory=dict)


Row = Start | Resume | Continue | Park | Finish


def row_of(snapshot: StateSnapshot, claim: Claim) -> Row:
    if (snapshot.metadata or {}).get("event_seq") != claim.seq:
        return Start()
    pending = tuple(i for task in snapshot.tasks for i in task.interrupts)
    answers = {i.id: claim.decisions[i.id] for i in pending if i.id in claim.decisions}
    if answers:
        return Resume(pending, answers)
    if pending:
        return Park(pending)
    if snapshot.tasks:  # not `next`: it hides a task whose writes are stored and whose step is not
        return Continue()
    return Finish(values=snapshot.values)
