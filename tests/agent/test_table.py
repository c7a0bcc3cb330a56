"""The crash table, row by row."""

from __future__ import annotations

from typing import Any, cast

import pytest
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from wakeful.agent.table import Continue, Finish, Park, Resume, Row, Start, row_of
from wakeful.events import Claim, Decision, Event

EVENT = Event(source="a", keys=("a/1",), principal="p", thread_key="t", text="hi")
YES = Decision(verdict="approve", by="p")
ASKED = Interrupt(value={}, id="now")


def claim(**more: Any) -> Claim:
    return Claim(
        seq=7, event=EVENT, graph_id="g", fence=1, attempts=0, crashes=0, received_at=0, **more
    )


def snapshot(seq: int | None, *interrupts: Interrupt, tasks: bool = False) -> StateSnapshot:
    work = (PregelTask("id", "tools", (), interrupts=interrupts),) if tasks or interrupts else ()
    return StateSnapshot(
        values={"messages": []},
        next=(),  # misleading on purpose: nothing may be concluded from it
        config={},
        metadata=None if seq is None else cast(Any, {"event_seq": seq}),
        created_at=None,
        parent_config=None,
        tasks=work,
        interrupts=interrupts,
    )


@pytest.mark.parametrize(
    ("found", "held", "row"),
    [
        (snapshot(None), claim(), Start()),
        (snapshot(6), claim(), Start()),
        (snapshot(6, ASKED), claim(decisions={"now": YES}), Start()),
        (snapshot(7, ASKED), claim(decisions={"now": YES}), Resume((ASKED,), {"now": YES})),
        (snapshot(7, ASKED), claim(decisions={"old": YES}), Park((ASKED,))),
        (snapshot(7, ASKED), claim(), Park((ASKED,))),
        (snapshot(7, tasks=True), claim(decisions={"old": YES}), Continue()),
        (snapshot(7, tasks=True), claim(), Continue()),
        (snapshot(7), claim(decisions={"old": YES}), Finish(values={"messages": []})),
        (snapshot(7), claim(), Finish(values={"messages": []})),
    ],
)
def test_each_row(found: StateSnapshot, held: Claim, row: Row) -> None:
    assert row_of(found, held) == row
