"""The alarm clock itself, on the real loop: no more than a few rings, none of them waited for."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tests.clock.world import Hands
from wakeful.backoff import Backoff
from wakeful.clock import alarm
from wakeful.clock.alarm import Alarm


class Bell:
    """Counts its rings; the first ones may fail. A ring is due again at `due`."""

    def __init__(self, *, enough: int, failing: int = 0, due: int | None = 0) -> None:
        self.rings, self.enough, self.failing, self.due = 0, enough, failing, due
        self.first, self.second, self.done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self) -> int | None:
        self.rings += 1
        self.first.set()
        if self.rings == 2:
            self.second.set()
        if self.rings >= self.enough:
            self.done.set()
        if self.rings <= self.failing:
            raise OSError("no store")
        return self.due


async def test_it_rings_at_once_and_as_often_as_something_is_due() -> None:
    bell = Bell(enough=3)
    async with Alarm(bell, clock=Hands(1000)):
        await asyncio.wait_for(bell.done.wait(), 5)
    assert bell.rings == 3


async def test_what_rings_while_a_look_is_under_way_is_looked_at_after_it() -> None:
    looking, go_on = asyncio.Event(), asyncio.Event()
    looks: list[str] = []

    async def look() -> int | None:
        looks.append("began")
        looking.set()
        await go_on.wait()
        looks.append("ended")
        return None

    async with Alarm(look, clock=Hands(1000)) as clock:
        await asyncio.wait_for(looking.wait(), 5)
        looking.clear()
        for _ in range(5):
            clock.set(1000)
            await asyncio.to_thread(lambda: None)  # a few turns of the loop
        go_on.set()
        await asyncio.wait_for(looking.wait(), 5)
    assert looks[:3] == ["began", "ended", "began"]


async def test_it_rings_when_it_is_set_to_an_earlier_time() -> None:
    bell = Bell(enough=2, due=None)
    async with Alarm(bell, clock=Hands(1000)) as clock:
        await asyncio.wait_for(bell.first.wait(), 5)
        clock.set(1000)
        await asyncio.wait_for(bell.done.wait(), 5)


async def test_C18_a_ring_that_fails_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(alarm, "TROUBLE", Backoff(first=0.001, cap=0.001))
    bell = Bell(enough=4, failing=2)
    hands = Hands(6000)
    async with Alarm(bell, clock=hands) as clock:
        hands.ms = 7000
        await asyncio.wait_for(bell.second.wait(), 5)
        assert clock.looked == 6.0
        await asyncio.wait_for(bell.done.wait(), 5)
        assert clock.looked == 7.0
    trouble = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(trouble) == 2
    assert "the schedules could not be looked at (no store)" in trouble[0].getMessage()


async def test_C39_trouble_does_not_spin() -> None:
    assert all(alarm.TROUBLE.delay(failures) >= 0.8 for failures in range(1, 100))


async def test_it_looks_again_although_nothing_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alarm, "LOOK", 0.001)
    bell = Bell(enough=3, due=None)
    async with Alarm(bell, clock=Hands(1000)):
        await asyncio.wait_for(bell.done.wait(), 5)
