from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.service.fakes import HandClock, until
from wakeful.backoff import Backoff
from wakeful.errors import SecretMissing
from wakeful.events import Health
from wakeful.service import supervise
from wakeful.service.supervise import CIRCUIT, Supervised

QUICK = Backoff(first=0.001, cap=0.002)


class Part:
    """Opens well only from the given attempt on."""

    def __init__(self, works_at: int = 1, error: Exception | None = None) -> None:
        self.error = error or ConnectionError("nobody there")
        self.works_at, self.attempts, self.health = works_at, 0, Health(True)
        self.seen: list[bool] = []
        self.event = asyncio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Part]:
        self.attempts += 1
        if self.attempts < self.works_at:
            raise self.error
        yield self

    async def probe(self) -> Health:
        return self.health

    def changed(self, part: Part | None) -> None:
        self.seen.append(part is not None)
        self.event.set()

    async def next_change(self) -> None:
        self.event.clear()
        await asyncio.wait_for(self.event.wait(), 5)


def watch(
    part: Part, *, circuit: int = CIRCUIT, **more: Any
) -> tuple[Supervised[Part], asyncio.Task[None]]:
    one = Supervised(
        "channel pager",
        part.open,
        clock=HandClock(),
        probe=lambda opened: opened.probe(),
        changed=part.changed,
        backoff=QUICK,
        circuit=circuit,
        **more,
    )
    return one, asyncio.create_task(one.run())


async def end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_part_that_fails_is_opened_again_until_it_holds() -> None:
    part = Part(works_at=4)
    one, task = watch(part)
    await part.next_change()
    assert part.attempts == 4 and one.state == "open" and one.error == ""
    await end(task)
    assert part.seen == [True, False]
    assert str(one.state) == "closed"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SecretMissing("CI_TOKEN is not set"), "CI_TOKEN is not set"),
        (ConnectionError("nobody there"), "ConnectionError: nobody there"),
    ],
)
async def test_our_own_errors_are_told_without_their_class(error: Exception, told: str) -> None:
    one, task = watch(Part(works_at=99, error=error), circuit=2)
    await until(lambda: one.state == "circuit-open")
    assert one.error == told
    await end(task)


async def test_a_part_whose_probe_fails_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "PROBE_EVERY", 0.001)
    part = Part()
    part.health = Health(False)
    _, task = watch(part)
    await until(lambda: part.seen[:3] == [True, False, True])
    await end(task)


async def test_a_failing_probe_closes_and_reopens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "PROBE_EVERY", 0.001)
    part = Part()
    part.health = Health(False, "token revoked")
    one, task = watch(part, circuit=3)
    await until(lambda: one.state == "circuit-open")
    assert one.error == "token revoked"
    await end(task)


async def test_P16_a_part_that_dies_at_once_is_left_alone_with_one_error(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "COOL", 0.001)
    part = Part(works_at=10**9)
    with caplog.at_level(logging.INFO):
        _, task = watch(part, circuit=5)
        await until(lambda: part.attempts >= 12)
        await end(task)
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert "channel pager failed 5 times" in errors[0].getMessage()
    assert "nobody there" in errors[0].getMessage()
    assert len([r for r in caplog.records if r.levelno == logging.WARNING]) == 4


async def test_P16_people_are_told_once_also_of_one_that_opens_and_dies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervise, "COOL", 0.001)
    monkeypatch.setattr(supervise, "PROBE_EVERY", 0.001)
    part, told = Part(), []
    part.health = Health(False, "token revoked")

    async def tell(sentence: str) -> None:
        told.append(sentence)

    _, task = watch(part, circuit=3, gave_up=tell)
    await until(lambda: part.attempts >= 8)
    await end(task)
    assert len(told) == 1 and "failed 3 times" in told[0] and "token revoked" in told[0]


async def test_an_opening_that_hangs_counts_as_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "OPENING", 0.001)

    class Hung(Part):
        @asynccontextmanager
        async def open(self) -> AsyncIterator[Part]:
            self.attempts += 1
            await asyncio.Event().wait()
            yield self

    one, task = watch(Hung())
    await asyncio.wait_for(one.tried.wait(), 5)
    assert "TimeoutError" in one.error
    await end(task)


async def test_a_part_whose_closing_hangs_is_opened_again_and_says_what_broke_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Clinging(Part):
        @asynccontextmanager
        async def open(self) -> AsyncIterator[Part]:
            self.attempts += 1
            yield self
            if self.attempts == 1:
                await asyncio.Event().wait()

    monkeypatch.setattr(supervise, "PROBE_EVERY", 0.001)
    monkeypatch.setattr(supervise, "CLOSING", 0.01)
    part = Clinging()
    part.health = Health(False, "the line is dead")
    one, task = watch(part, circuit=1000)
    await until(lambda: part.attempts == 2)
    await end(task)
    assert one.failures and "the line is dead" in caplog.text
    assert "TimeoutError" not in caplog.text


async def test_a_part_that_calls_exit_is_opened_again_and_ends_nobody() -> None:
    class Exiting(Part):
        @asynccontextmanager
        async def open(self) -> AsyncIterator[Part]:
            self.attempts += 1
            if self.attempts == 1:
                raise SystemExit(4)
            yield self

    part = Exiting()
    one, task = watch(part)
    await part.next_change()
    assert part.attempts == 2 and one.state == "open"
    await end(task)
