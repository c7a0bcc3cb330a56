"""A side effect is intended before it is done, and never intended twice."""

from __future__ import annotations

import asyncio

from tests.store.conftest import Opener, event
from wakeful.events import Claim
from wakeful.store import EffectRow, Store


async def begin(store: Store, claim: Claim, key: str = "k1") -> EffectRow | None:
    return await store.begin_effect(
        thread_key=claim.thread_key,
        fence=claim.fence,
        key=key,
        event_seq=claim.seq,
        tool="refund",
        digest="d1",
    )


async def claimed(store: Store) -> Claim:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    return claim


async def test_a_new_call_may_go_ahead_and_a_finished_one_is_replayed(store: Store) -> None:
    claim = await claimed(store)
    assert await begin(store, claim) is None
    await store.end_effect("k1", "done", '"ok"')
    again = await begin(store, claim)
    assert again is not None
    assert (again.state, again.result) == ("done", '"ok"')


async def test_a_call_that_was_cut_off_is_unknown_for_ever(opening: Opener) -> None:
    async with opening(lease=0.0) as store:
        assert await begin(store, await claimed(store)) is None
    async with opening(lease=0.0) as store:
        await store.recover()
        [claim] = await store.claim(1)
        found = await begin(store, claim)
        assert found is not None
        assert (found.state, found.result) == ("unknown", None)
        await store.end_effect("k1", "done", '"late"')
        [row] = await store.view.effects(state="unknown")
        assert row["key"] == "k1"
        again = await begin(store, claim)
        assert again is not None and again.result is None


async def test_a_clean_failure_is_known(store: Store) -> None:
    claim = await claimed(store)
    await begin(store, claim)
    await store.end_effect("k1", "failed", '"no such order"')
    again = await begin(store, claim)
    assert again is not None
    assert again.state == "failed"


async def test_two_calls_at_once_with_one_key_are_one(store: Store) -> None:
    claim = await claimed(store)
    found = await asyncio.gather(*[begin(store, claim) for _ in range(8)])
    assert found.count(None) == 1


async def test_parallel_calls_are_journaled_each(store: Store) -> None:
    claim = await claimed(store)
    found = await asyncio.gather(*[begin(store, claim, f"k{n}") for n in range(8)])
    assert found == [None] * 8
    run = await store.view.run(claim.seq)
    assert run is not None
    assert {row["key"] for row in run["effects"]} == {f"k{n}" for n in range(8)}
    assert len(await store.view.effects(state="started")) == 8
