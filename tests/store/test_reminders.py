"""What nobody answers is repeated, passed on, and closed, each at its time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.store.conftest import HandClock, event, question
from wakeful.errors import AlreadyDecided, NotAllowed, Stale
from wakeful.events import Decision, Parked, Receipt, Reply
from wakeful.store import Store

DAY = 86_400  # seconds
YES = Decision(verdict="approve", by="console:operator", digest="d1")


async def asked(store: Store, clock: HandClock, **fields: Any) -> None:
    now = clock.now()
    times: dict[str, Any] = {
        "remind_at": now + DAY * 1000,
        "escalate_at": now + 3 * DAY * 1000,
        "expires_at": now + 7 * DAY * 1000,
        "escalate_to": ("console:boss",),
    }
    await store.accept(event("1", principal="slack:T:U"))
    [claim] = await store.claim(1)
    await store.park(claim, Parked(waits=(question(**(times | fields)),)))
    await arrived(store)


async def arrived(store: Store) -> list[Reply]:
    replies = await store.take_replies(8)
    for reply in replies:
        await store.sent(reply, Receipt(f"r{reply.id}"))
    return replies


async def at(store: Store, clock: HandClock, seconds: float) -> list[Reply]:
    clock.move(seconds)
    assert len(await store.claim(1)) in (0, 1)
    return await arrived(store)


async def actions(store: Store) -> list[tuple[str, str]]:
    rows = await store.db.run(
        lambda s: s.raw.execute(
            "SELECT action, principal FROM audit ORDER BY at, action"
        ).fetchall()
    )
    return [(row[0], row[1]) for row in rows]


async def test_A3_A5_a_reminder_an_escalation_and_an_end_once_each(
    store: Store, clock: HandClock
) -> None:
    await asked(store, clock)
    assert await store.next_due() == clock.now() + DAY * 1000
    assert await at(store, clock, DAY - 1) == []
    [reminder] = await at(store, clock, 1)
    assert (reminder.kind, reminder.address) == ("message", "console:a")
    assert "Refund A-1001?" in reminder.text
    assert await at(store, clock, DAY) == []
    [passed_on] = await at(store, clock, DAY)
    assert (passed_on.kind, passed_on.address) == ("ask", "console:boss")
    assert passed_on.wait is not None and passed_on.wait.id == "w1"
    changes = await at(store, clock, 4 * DAY)
    assert {(one.kind, one.address) for one in changes} == {
        ("decided", "console:a"),
        ("decided", "console:boss"),
    }
    assert [await store.card_of(one) is not None for one in changes] == [True, True]
    assert await actions(store) == [
        ("asked", "slack:T:U"),
        ("reminded", ""),
        ("escalated", ""),
        ("expired", ""),
    ]
    with pytest.raises(AlreadyDecided, match="has expired"):
        await store.decide("w1", YES, key="console/late")


async def test_after_a_long_stop_only_the_last_step_is_taken(
    store: Store, clock: HandClock
) -> None:
    await asked(store, clock)
    replies = await at(store, clock, 8 * DAY)
    assert [reply.kind for reply in replies] == ["decided"]


async def test_an_answer_stops_the_reminders(store: Store, clock: HandClock) -> None:
    await asked(store, clock)
    await store.decide("w1", YES, key="console/1")
    assert [one.kind for one in await at(store, clock, DAY)] == ["decided"]
    assert await at(store, clock, 7 * DAY) == []


async def test_a_question_without_an_end_stays_open(store: Store, clock: HandClock) -> None:
    await asked(store, clock, remind_at=None, escalate_at=None, expires_at=None)
    assert await at(store, clock, 400 * DAY) == []
    assert len(await store.view.waits()) == 1


async def test_cards_go_where_the_question_is_routed(store: Store, clock: HandClock) -> None:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    routed = question(route=("console:ops", "console:duty", "console:ops"))
    await store.park(claim, Parked(waits=(routed,)))
    assert [card.address for card in await arrived(store)] == ["console:ops", "console:duty"]
    await store.decide("w1", YES, key="console/1")
    changes = await arrived(store)
    assert [change.address for change in changes] == ["console:ops", "console:duty"]


async def test_A6_who_may_not_decide_is_refused_and_audited(store: Store, clock: HandClock) -> None:
    await asked(store, clock, approvers=("slack:T:BOSS",))
    stranger = Decision(verdict="approve", by="slack:T:U", digest="d1")  # the requester itself
    with pytest.raises(NotAllowed):
        await store.decide("w1", stranger, key="slack/1")
    stale = Decision(verdict="approve", by="slack:T:BOSS", digest="d0")
    with pytest.raises(Stale):
        await store.decide("w1", stale, key="slack/2")
    boss = Decision(verdict="approve", by="slack:T:BOSS", digest="d1")
    await store.decide("w1", boss, key="slack/3")
    assert sorted(await actions(store)) == [
        ("approve", "slack:T:BOSS"),
        ("asked", "slack:T:U"),
        ("refused", "slack:T:BOSS"),
        ("refused", "slack:T:U"),
    ]
