"""What goes out: in order, from disk, and looked at before it goes again."""

from __future__ import annotations

import pytest

from tests.store.conftest import HandClock, Opener, answer, event
from wakeful.events import Done, Outgoing, Receipt
from wakeful.store import Store, outbox


def message(text: str, ordinal: str, address: str = "console:a") -> Outgoing:
    return Outgoing(ordinal=ordinal, address=address, text=text, kind="message")


async def post(store: Store, *texts: str, address: str = "console:a", seq: int = 1) -> None:
    for text in texts:
        one = message(text, f"send/{text}", address)
        assert await store.post(one, event_seq=seq, thread_key="console/a")


async def test_the_same_ordinal_of_an_event_is_queued_once(store: Store) -> None:
    await post(store, "1")
    assert not await store.post(message("2", "send/1"), event_seq=1, thread_key="console/a")
    assert await store.post(message("2", "send/1"), event_seq=2, thread_key="console/a")


async def test_one_reply_of_a_lane_at_a_time_in_order(store: Store) -> None:
    await post(store, "1", "2", "3")
    await post(store, "b", address="console:b")
    sent = []
    while replies := await store.take_replies(8):
        sent.append([reply.text for reply in replies])
        for reply in replies:
            await store.sent(reply, Receipt("id"))
    assert sent == [["1", "b"], ["2"], ["3"]]


async def test_a_reply_that_waits_holds_its_lane(store: Store, clock: HandClock) -> None:
    await post(store, "1", "2")
    [reply] = await store.take_replies(8)
    await store.resend(reply, "no answer", at=clock.now() + 3000)
    assert await store.take_replies(8) == []
    assert await store.next_reply_due() is not None
    clock.move(3)
    [again] = await store.take_replies(8)
    assert (again.text, again.attempts) == ("1", 2)
    await store.sent(again, Receipt("id"))
    assert [one.text for one in await store.take_replies(8)] == ["2"]


async def test_finish_hands_its_reply_over_and_what_follows_in_its_lane_waits(
    store: Store,
) -> None:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    parts = tuple(answer(text, ordinal=f"final/console:a/{text}") for text in "123")
    await store.finish(claim, Done(replies=parts))
    sent = []
    while replies := await store.take_replies(8):
        assert [reply.attempts for reply in replies] == [1]
        sent += [reply.text for reply in replies]
        await store.sent(replies[0], Receipt("id"))
    assert sent == ["1", "2", "3"]


async def test_a_reply_cut_off_on_its_way_is_doubtful_and_only_once(opening: Opener) -> None:
    async with opening(lease=0.0) as store:
        await post(store, "1", "2")
        [cut] = await store.take_replies(1)
        assert await store.doubtful() == []  # it is on its way here
    async with opening(lease=60.0) as store:
        [doubtful] = await store.doubtful()
        assert doubtful.id == cut.id
        assert await store.doubtful() == []
        assert await store.take_replies(8) == []  # its lane waits for it
        await store.sent(doubtful, Receipt("found"))
        assert [one.text for one in await store.take_replies(8)] == ["2"]


async def test_what_the_courier_never_took_is_queued_again_when_the_store_closes(
    opening: Opener,
) -> None:
    async with opening(lease=0.0) as store:
        await store.accept(event("1"))
        [claim] = await store.claim(1)
        await store.finish(claim, Done(replies=(answer(),)))
    async with opening() as store:
        assert await store.doubtful() == []
        [reply] = await store.take_replies(8)
        assert reply.attempts == 1


async def test_the_next_run_is_told_what_never_arrived_until_a_run_ended(store: Store) -> None:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer("lost"),)))
    [reply] = await store.take_replies(8)
    await store.undeliverable(reply, "no such channel")
    await store.accept(event("2"))
    for _ in range(2):
        [claim] = await store.claim(1)
        assert claim.undelivered == ("lost",)
        await store.release(claim)
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer(),)))
    await store.accept(event("3"))
    [claim] = await store.claim(1)
    assert claim.undelivered == ()


async def test_a_report_opens_a_thread_where_it_was_delivered(store: Store) -> None:
    await post(store, "The report.")
    [reply] = await store.take_replies(8)
    await store.sent(reply, Receipt("m1", thread_key="slack/T1/C2/17.1"))
    await store.accept(event("why?", "slack/T1/C2/17.1"))
    [claim] = await store.claim(1)
    assert claim.seed == ("The report.",)
    said = await store.view.messages("slack/T1/C2/17.1")
    assert [(one.role, one.text) for one in said] == [
        ("assistant", "The report."),
        ("user", "why?"),
    ]


async def test_a_reply_knows_what_its_channel_shows_already(store: Store) -> None:
    accepted = await store.accept(event("1"))
    [claim] = await store.claim(1)
    await store.shown(accepted.seq, "console:a", "m1")
    await store.shown(accepted.seq, "console:a", "m2")
    await store.finish(claim, Done(replies=(answer(),)))
    [reply] = await store.take_replies(8)
    assert reply.shown == "m2"


async def test_a_firing_is_told_what_became_of_its_report(store: Store) -> None:
    fired = event("1", "schedule/weekly", source="schedule", kind="firing")
    accepted = await store.fire_now("weekly", 5, fired)
    assert accepted is not None
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer(),)))
    [reply] = await store.take_replies(8)
    await store.sent(reply, Receipt("id"))
    [firing] = await store.firings("weekly")
    assert (firing.state, firing.delivery) == ("done", "sent")


async def test_what_waits_in_memory_for_the_courier_is_bounded_and_the_rest_waits_on_disk(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_HANDED", 2)
    names = [f"console/{n}" for n in range(5)]
    for name in names:
        await store.accept(event(name, name))
    for claim in await store.claim(8):
        one = answer(claim.thread_key, address=claim.event.address)
        await store.finish(claim, Done(replies=(one,)))
    assert len(store._handed) == 2
    sent: list[str] = []
    while replies := await store.take_replies(8):
        assert {reply.attempts for reply in replies} == {1}
        sent += [reply.text for reply in replies]
        for reply in replies:
            await store.sent(reply, Receipt("id"))
    assert sent == names
