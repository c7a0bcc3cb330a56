"""A channel that shows progress is told of it, in order, and never holds a run up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.service.fakes import Box, HandClock, Script, at_work, done, ended, event, store_at
from wakeful.channel import Channel
from wakeful.events import Claim, Outcome, Update
from wakeful.service import progress
from wakeful.service.progress import Progress


@dataclass
class Screen(Box):
    """Shows progress, when it is let."""

    shows_progress: bool = True
    seen: list[str] = field(default_factory=list)
    may: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        super().__init__()

    async def progress(self, claim: Claim, update: Update) -> None:
        await self.may.wait()
        if self.errors:
            raise self.errors.pop(0)
        self.seen.append(update.text)


def claim(seq: int = 1) -> Claim:
    asked = event("hello")
    return Claim(seq=seq, event=asked, graph_id="g", fence=1, attempts=0, crashes=0, received_at=0)


def text(piece: str) -> Update:
    return Update(kind="text", event_seq=1, text=piece)


def tool(name: str) -> Update:
    return Update(kind="tool", event_seq=1, text=name)


def telling(screen: Channel, watched: list[str] | None = None) -> Progress:
    def bus(update: Update) -> None:
        assert watched is not None
        watched.append(update.text)

    return Progress({"console": screen}, lambda _: None if watched is None else bus)


async def test_it_sees_everything_in_order_before_the_answer_goes_out() -> None:
    screen = Screen()
    one = telling(screen)
    emit = one.watch(claim())
    assert emit is not None
    for update in (text("He"), text("llo"), tool("look"), text("!")):
        emit(update)
    screen.may.set()
    await one.settle(claim())
    assert screen.seen == ["Hello", "look", "!"]


async def test_those_who_watch_are_told_as_well() -> None:
    screen, watched = Screen(), list[str]()
    one = telling(screen, watched)
    emit = one.watch(claim())
    assert emit is not None
    emit(text("Hello"))
    screen.may.set()
    await one.settle(claim())
    assert screen.seen == watched == ["Hello"]


async def test_a_channel_that_shows_none_costs_nothing() -> None:
    one = telling(Box())
    assert one.watch(claim()) is None
    await one.settle(claim())


async def test_a_channel_that_fails_is_left_alone_till_the_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    screen = Screen()
    screen.errors = [ConnectionError("the line dropped")]
    screen.may.set()
    one = telling(screen)
    emit = one.watch(claim())
    assert emit is not None
    emit(tool("a"))
    emit(tool("b"))
    await one.settle(claim())
    assert screen.seen == [] and "the line dropped" in caplog.text


async def test_a_channel_that_hangs_misses_updates_and_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "CLOSING", 0.01)
    screen = Screen()
    one = telling(screen)
    emit = one.watch(claim())
    assert emit is not None
    for number in range(progress.BEHIND * 2):
        emit(tool(str(number)))
    await one.settle(claim())
    assert screen.seen == []


async def test_a_run_tells_its_channel(tmp_path: Path) -> None:
    screen = Screen()
    screen.may.set()
    one = telling(screen)

    class Talker(Script):
        async def run(self, claim: Claim, *, emit: object, stop: object) -> Outcome:
            assert callable(emit)
            emit(text("thinking"))
            return done(claim, "thought")

    clock = HandClock()
    async with store_at(tmp_path, clock) as store:
        seq = (await store.accept(event("x"))).seq
        async with at_work(store, Talker(), clock, watch=one.watch, settle=one.settle):
            await ended(store, seq)
    assert screen.seen == ["thinking"]
