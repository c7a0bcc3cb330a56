"""Questions and answers: the first answer wins, and it is on disk before anybody hears of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.store.conftest import HandClock, answer, event, question
from wakeful.errors import AlreadyDecided, NotAllowed, Refused, Stale, Unknown
from wakeful.events import Decision, Done, Parked, WaitRequest
from wakeful.store import Store

YES = Decision(verdict="approve", by="console:operator", digest="d1")


async def parked(store: Store, *requests: WaitRequest, **fields: Any) -> int:
    accepted = await store.accept(event("1", **fields))
    [claim] = await store.claim(1)
    await store.park(claim, Parked(waits=requests or (question(),)))
    return accepted.seq


async def test_nobody_decides_what_is_not_asked(store: Store) -> None:
    with pytest.raises(Unknown, match="there is no question nothing"):
        await store.decide("nothing", YES, key="console/decision/1")


async def test_a_stale_digest_is_refused_and_changes_nothing(store: Store) -> None:
    await parked(store)
    old = Decision(verdict="approve", by="console:operator", digest="d0")
    with pytest.raises(Stale):
        await store.decide("w1", old, key="console/decision/1")
    assert [wait.state for wait in await store.view.waits()] == ["open"]
    assert await store.claim(1) == []


async def test_the_first_answer_wins_and_the_same_click_twice_is_one(store: Store) -> None:
    await parked(store)
    decided = await store.decide("w1", YES, key="console/decision/1")
    assert (decided.state, decided.decision) == ("decided", YES)
    assert await store.decide("w1", YES, key="console/decision/1") == decided
    no = Decision(verdict="reject", by="console:operator", digest="d1")
    for key in ("console/decision/1", "console/decision/2"):
        with pytest.raises(AlreadyDecided, match="decided by console:operator"):
            await store.decide("w1", no, key=key)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"order": "A-1", "amount": 1, "to": "me"}, "there is no argument 'to'"),
        ({"order": "A-1"}, "'amount' is missing"),
        ({"order": "A-1", "amount": "many"}, "'amount' must be of the type integer"),
        ({"order": "A-1", "amount": True}, "'amount' must be of the type integer"),
    ],
)
async def test_changed_arguments_that_do_not_fit_leave_the_question_open(
    store: Store, args: dict[str, Any], says: str
) -> None:
    kinds = {"order": {"type": "string"}, "amount": {"type": "integer"}}
    await parked(store, question(schema={"properties": kinds, "required": ["order", "amount"]}))
    edit = Decision(verdict="edit", by="console:operator", digest="d1", args=args)
    with pytest.raises(Refused, match=says):
        await store.decide("w1", edit, key="console/decision/1")
    assert [wait.state for wait in await store.view.waits()] == ["open"]
    fits = Decision(
        verdict="edit", by="console:operator", digest="d1", args={"order": "A-1", "amount": 2}
    )
    assert (await store.decide("w1", fits, key="console/decision/1")).state == "decided"


async def test_an_approval_takes_no_answer_of_another_kind(store: Store) -> None:
    await parked(store)
    words = Decision(verdict="answer", by="console:operator", digest="d1", text="yes!")
    with pytest.raises(Refused, match="takes approve or edit or reject, not answer"):
        await store.decide("w1", words, key="console/decision/1")


async def test_an_answer_that_comes_too_late_is_none(store: Store, clock: HandClock) -> None:
    await parked(store, question(expires_at=clock.now() + 1000))
    clock.move(1)
    with pytest.raises(AlreadyDecided, match="expired"):
        await store.decide("w1", YES, key="console/decision/1")


@pytest.mark.parametrize(
    ("by", "approvers", "allowed"),
    [
        ("slack:T1:U7", (), True),  # the requester
        ("slack:T1:U8", (), False),
        ("console:operator", ("slack:T1:U9",), True),
        ("slack:T1:U9", ("slack:T1:U9",), True),
        ("slack:T1:U7", ("slack:T1:U9",), False),
    ],
)
async def test_who_may_decide(
    store: Store, by: str, approvers: tuple[str, ...], allowed: bool
) -> None:
    await parked(store, question(approvers=approvers), principal="slack:T1:U7")
    decision = Decision(verdict="approve", by=by, digest="d1")
    if allowed:
        assert (await store.decide("w1", decision, key="console/decision/1")).state == "decided"
    else:
        with pytest.raises(NotAllowed):
            await store.decide("w1", decision, key="console/decision/1")


async def test_one_of_two_answers_goes_on_with_that_one(store: Store) -> None:
    await parked(store, question("w1"), question("w2"))
    await store.decide("w1", YES, key="console/decision/1")
    [claim] = await store.claim(1)
    assert set(claim.decisions) == {"w1"}
    await store.decide("w2", YES, key="console/decision/2")
    await store.park(claim, Parked(waits=(question("w2"),), applied=("w1",)))
    [claim] = await store.claim(1)
    assert set(claim.decisions) == {"w2"}


async def test_an_answer_to_what_is_not_pending_any_more_is_used_up(store: Store) -> None:
    await parked(store, question("w1"))
    await store.decide("w1", YES, key="console/decision/1")
    [claim] = await store.claim(1)
    await store.park(claim, Parked(waits=(question("w2"),)))
    assert await store.claim(1) == []
    states = {wait.request.id: wait.state for wait in await store.view.waits(state=None)}
    assert states == {"w1": "applied", "w2": "open"}


async def test_parking_again_after_a_crash_asks_once(store: Store) -> None:
    await parked(store)
    await store.decide("w1", YES, key="console/decision/1")
    [claim] = await store.claim(1)
    await store.park(claim, Parked(waits=(question(),)))
    assert len(await store.take_replies(8)) == 1
    assert await store.take_replies(8) == []
    assert len(await store.view.waits(state=None)) == 1


async def test_a_wait_without_an_address_is_for_the_page(store: Store) -> None:
    await parked(store, address="", channel="")
    assert await store.take_replies(8) == []
    assert len(await store.view.waits()) == 1


async def test_nobody_answered_in_time(store: Store, clock: HandClock) -> None:
    await parked(store, question(expires_at=clock.now() + 1000))
    none = await store.claim(1)
    assert none == [] and none.next_due == await store.next_due() == clock.now() + 1000
    clock.move(1)
    [claim] = await store.claim(1)
    assert claim.decisions["w1"].verdict == "reject"
    assert claim.decisions["w1"].reason == "nobody answered in time"


async def test_a_question_that_will_expire_wakes_the_worker(store: Store, clock: HandClock) -> None:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    assert await store.claim(1) == []  # from here on nothing is looked at until something wakes us
    store.work.clear()
    await store.park(claim, Parked(waits=(question(expires_at=clock.now() + 1000),)))
    assert store.work.is_set()
    clock.move(2)
    assert [one.seq for one in await store.claim(1)] == [claim.seq]


async def test_an_event_that_ends_leaves_no_open_question(store: Store) -> None:
    await parked(store, question("w1"), question("w2"))
    await store.decide("w1", YES, key="console/decision/1")
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer(),)))
    states = {wait.request.id: wait.state for wait in await store.view.waits(state=None)}
    assert states == {"w1": "applied", "w2": "cancelled"}


async def test_events_behind_a_wait_keep_their_order(store: Store) -> None:
    await parked(store)
    await store.accept(event("2"))
    await store.accept(event("3"))
    assert await store.claim(8) == []
    await store.decide("w1", YES, key="console/decision/1")
    told = []
    while claims := await store.claim(8):
        told += [claim.event.text for claim in claims]
        await store.finish(claims[0], Done(silent="x"))
    assert told == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("verdict", "sent"), [("approve", ["draft"]), ("edit", ["better"]), ("reject", [])]
)
async def test_a_held_draft_is_decided_without_a_run(
    store: Store, verdict: Any, sent: list[str]
) -> None:
    accepted = await store.accept(event("1"))
    held = await store.hold(
        answer("draft"), question(), event_seq=accepted.seq, thread_key="console/decision/a"
    )
    assert held
    assert await store.take_replies(8) == []
    decision = Decision(verdict=verdict, by="console:operator", digest="d1", text="better")
    assert (await store.decide("w1", decision, key="console/decision/1")).state == "applied"
    assert [reply.text for reply in await store.take_replies(8)] == sent
