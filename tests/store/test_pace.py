"""How the work of one operation grows: ratios within one run, counted in SQLite's own steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.store.conftest import HandClock, answer, event
from wakeful.events import Done, Receipt
from wakeful.store import Session, Store, open_store
from wakeful.store.codec import event_payload
from wakeful.store.inbox import put_event

Act = Callable[[Store], Awaitable[Any]]


async def fill(store: Store, events: list[tuple[str, str]]) -> None:
    def put(s: Session) -> None:
        for name, thread in events:
            one = event(name, thread)
            put_event(s, one, event_payload(one))

    await store.run(put)


async def steps(store: Store, act: Act) -> int:
    """How many hundreds of steps SQLite's machine takes for it: the same on a busy machine."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    lines: list[Any] = [
        await store.run(lambda s: s.raw, durable=durable) for durable in (True, False)
    ]
    for line in lines:
        line.set_progress_handler(tick, 1)
    await act(store)
    for line in lines:
        line.set_progress_handler(None, 1)
    return count


async def turn(store: Store) -> None:
    """Accept, claim, finish and send one event, whatever else waits."""
    await store.accept(event("new", "console/new"))
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer(address="console:x"),)))
    [reply] = await store.take_replies(1)
    await store.sent(reply, Receipt("id"))


@pytest.mark.parametrize("waiting", [10_000])
async def test_P5_a_long_backlog_of_one_thread_claims_as_fast_as_a_short_one(
    tmp_path: Any, clock: HandClock, waiting: int
) -> None:
    found = []
    for count in (10, waiting):
        url = f"sqlite:///{tmp_path}/{count}.db"
        async with open_store(url, clock=clock, owner="test") as store:
            await fill(store, [(str(n), "console/busy") for n in range(count)])
            found.append(await steps(store, turn))
    assert found[1] <= 1.5 * found[0]


async def test_P6_five_thousand_threads_are_as_fast_as_fifty(
    tmp_path: Any, clock: HandClock
) -> None:
    found = []
    for count in (50, 5_000):
        url = f"sqlite:///{tmp_path}/{count}.db"
        async with open_store(url, clock=clock, owner="test") as store:
            await fill(store, [(str(n), f"console/{n}") for n in range(count)])
            found.append(await steps(store, turn))
    assert found[1] <= 1.5 * found[0]


async def test_P6_a_long_history_costs_nothing(tmp_path: Any, clock: HandClock) -> None:
    async with open_store(f"sqlite:///{tmp_path}/x.db", clock=clock, owner="test") as store:
        await again(store, 0)
        early = await steps(store, lambda store: again(store, 1))
        for n in range(2, 300):
            await again(store, n)
        late = await steps(store, lambda store: again(store, 300))
    assert late <= 1.5 * early


async def again(store: Store, n: int) -> None:
    """One more turn of the same thread."""
    await store.accept(event(f"again {n}"))
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer(),)))
    [reply] = await store.take_replies(1)
    await store.sent(reply, Receipt("id"))


async def test_an_idle_store_does_nothing(tmp_path: Any, clock: HandClock) -> None:
    async with open_store(f"sqlite:///{tmp_path}/x.db", clock=clock, owner="test") as store:
        await store.claim(8)
        await store.take_replies(8)

        async def poll(store: Store) -> None:
            for _ in range(10):
                await store.claim(8)
                await store.take_replies(8)
                await store.next_due()
                await store.next_reply_due()

        assert await steps(store, poll) == 0
