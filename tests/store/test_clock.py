"""A clock that is set back changes no order and makes nobody wait longer."""

from __future__ import annotations

from tests.store.conftest import HandClock, Opener, answer, event
from wakeful.events import Done, Failed, Receipt
from wakeful.store import Store

HOUR = 3_600_000  # ms


async def test_order_goes_by_number_when_the_clock_is_set_back(
    store: Store, clock: HandClock
) -> None:
    for name in ("1", "2", "3"):
        await store.accept(event(name))
        await store.accept(event(f"other {name}", f"console/{name}"))
        clock.ms -= HOUR
    told = []
    while claims := await store.claim(1):
        told.append(claims[0].event.text)
        await store.finish(claims[0], Done(replies=(answer(),)))
        for reply in await store.take_replies(8):
            await store.sent(reply, Receipt("id"))
    assert told == ["1", "other 1", "2", "other 2", "3", "other 3"]


async def test_a_back_off_moves_back_with_the_clock(store: Store, clock: HandClock) -> None:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer(),)))
    [reply] = await store.take_replies(1)
    await store.resend(reply, "x", at=clock.now() + 5000)
    await store.accept(event("2"))
    [claim] = await store.claim(1)
    await store.retry(claim, Failed(error="x", outage=True), at=clock.now() + 5000)
    clock.ms -= HOUR
    await store.heartbeat()
    assert await store.claim(1) == []
    clock.move(5)
    assert len(await store.claim(1)) == 1
    assert len(await store.take_replies(1)) == 1


async def test_a_moment_of_the_calendar_stays_where_it_is(store: Store, clock: HandClock) -> None:
    await store.accept(event("1", not_before=clock.now() + 5000))
    clock.ms -= HOUR
    await store.heartbeat()
    clock.move(5)
    assert await store.claim(1) == []
    clock.move(3600)
    assert len(await store.claim(1)) == 1


async def test_a_clock_set_back_while_the_daemon_was_down(
    opening: Opener, clock: HandClock
) -> None:
    async with opening() as store:
        await store.accept(event("1"))
        [claim] = await store.claim(1)
        await store.retry(claim, Failed(error="x"), at=clock.now() + 5000)
    clock.ms -= HOUR
    async with opening() as store:
        await store.recover()
        assert len(await store.claim(1)) == 1


async def test_a_clock_that_runs_on_is_left_alone(store: Store, clock: HandClock) -> None:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    await store.retry(claim, Failed(error="x"), at=clock.now() + 5000)
    clock.move(4)
    clock.ms -= 100  # adjusted, not set
    await store.heartbeat()
    assert await store.claim(1) == []
