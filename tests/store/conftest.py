"""A store on each database, a clock that the test moves, and events to put in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from wakeful.events import Event, Outgoing, WaitRequest
from wakeful.store import Store, open_store

START = 1_800_000_000_000  # ms UTC

Opener = Callable[..., AbstractAsyncContextManager[Store]]


class HandClock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.ms = START
        self.seconds = 1000.0

    def now(self) -> int:
        return self.ms

    def boot(self) -> float:
        return self.seconds

    def move(self, seconds: float) -> None:
        self.ms += int(seconds * 1000)
        self.seconds += seconds


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/state.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """The same test on both databases."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    found: str = request.getfixturevalue(name)
    return found


@pytest.fixture
def opening(url: str, clock: HandClock) -> Opener:
    """Opens the store of this test, again after it was closed."""
    return lambda **kwargs: open_store(url, **{"clock": clock, "owner": "test", **kwargs})


@pytest.fixture
async def store(opening: Opener) -> AsyncIterator[Store]:
    async with opening() as opened:
        yield opened


def event(name: str, thread: str = "console/a", **fields: Any) -> Event:
    made: dict[str, Any] = {
        "source": "console",
        "keys": (f"console/{name}",),
        "principal": "console:operator",
        "thread_key": thread,
        "text": name,
        "channel": "console",
        "address": f"console:{thread.partition('/')[2]}",
    }
    return Event(**(made | fields))


def answer(text: str = "yes", *, address: str = "console:a", ordinal: str = "") -> Outgoing:
    return Outgoing(ordinal=ordinal or f"final/{address}/0", address=address, text=text)


def question(id: str = "w1", **fields: Any) -> WaitRequest:
    made: dict[str, Any] = {
        "id": id,
        "kind": "approval",
        "title": "Refund A-1001?",
        "tool": "refund",
        "args": {"order": "A-1001"},
        "digest": "d1",
    }
    return WaitRequest(**(made | fields))
