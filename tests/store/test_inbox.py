"""What comes in is on disk once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tests.store.conftest import HandClock, Opener, event
from wakeful.events import Accepted, Attachment
from wakeful.store import Store


async def test_an_event_comes_back_as_it_was_accepted(store: Store) -> None:
    file = Attachment(name="a.png", media_type="image/png", artefact="x1", size=3)
    given = event("1", data={"n": 1}, attachments=(file,), untrusted=True, parent_seq=None)
    accepted = await store.accept(given)
    assert await store.input_of(accepted.seq) == given
    [claim] = await store.claim(8)
    assert claim.event == given
    assert claim.untrusted


async def test_the_same_key_twice_is_one_event(store: Store) -> None:
    first = await store.accept(event("1"))
    again = await store.accept(event("1"))
    assert again == Accepted(first.seq, "console/a", duplicate=True)
    assert len(await store.claim(8)) == 1
    assert await store.claim(8) == []


async def test_any_known_key_makes_a_duplicate_and_new_names_are_kept(store: Store) -> None:
    first = await store.accept(event("1", keys=("console/a", "console/b")))
    second = await store.accept(event("2", keys=("console/0", "console/b")))
    third = await store.accept(event("3", keys=("console/0",)))
    assert (second.seq, second.duplicate) == (first.seq, True)
    assert (third.seq, third.duplicate) == (first.seq, True)
    assert [message.text for message in await store.view.messages("console/a")] == ["1"]


async def test_the_same_key_of_another_source_is_another_event(store: Store) -> None:
    first = await store.accept(event("1"))
    other = await store.accept(replace(event("1"), source="support"))
    assert other.seq != first.seq
    assert not other.duplicate


async def test_the_cursor_advances_with_the_event(store: Store) -> None:
    await store.accept(event("1"), cursor=("email", "inbox", "7"))
    assert await store.cursor("email", "inbox") == "7"
    await store.advance("email", "inbox", "9")
    assert await store.cursor("email", "inbox") == "9"
    assert await store.cursor("email", "sent") is None


async def test_concurrent_accepts_keep_the_order_of_their_calls(store: Store) -> None:
    accepted = await asyncio.gather(*[store.accept(event(str(n))) for n in range(300)])
    seqs = [one.seq for one in accepted]
    assert seqs == sorted(seqs)
    assert len(set(seqs)) == 300


async def test_an_event_may_wait_for_its_moment(store: Store, clock: HandClock) -> None:
    await store.accept(event("later", not_before=clock.now() + 5000))
    claims = await store.claim(8)
    assert claims == []
    assert claims.next_due == clock.now() + 5000
    clock.move(5)
    assert [claim.event.text for claim in await store.claim(8)] == ["later"]


async def test_what_was_accepted_is_there_after_the_store_was_closed(opening: Opener) -> None:
    async with opening() as store:
        first = await store.accept(event("1"))
    async with opening() as store:
        assert (await store.accept(event("1"))).duplicate
        assert [claim.seq for claim in await store.claim(8)] == [first.seq]
