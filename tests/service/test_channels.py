"""Channels under supervision, by a module that does what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.service.fakes import Box, HandClock, until
from wakeful.backoff import Backoff
from wakeful.host import Host
from wakeful.plugs import ChannelPlug
from wakeful.service import channels as room
from wakeful.service.channels import Channels

QUICK = Backoff(first=0.001, cap=0.002)


class Module:
    """Counts how often it was opened and closed."""

    def __init__(self, *, broken: bool = False, stuck: bool = False) -> None:
        self.broken, self.stuck = broken, stuck
        self.opened: list[str] = []
        self.closed: list[str] = []

    @asynccontextmanager
    async def open(self, settings: Any, host: Any) -> AsyncIterator[Box]:
        if self.broken:
            raise ConnectionError("token revoked")
        self.opened.append(settings)
        try:
            yield Box()
        finally:
            self.closed.append(settings)
            while self.stuck:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.stuck = not self.closed.count("again")


def plug(name: str, module: Module, *, digest: str = "1") -> ChannelPlug:
    return ChannelPlug(
        name=name,
        module=module,
        settings={},
        file=f"channels/{name}.toml",
        use=name,
        digest=digest,
    )


def make() -> tuple[Channels, list[tuple[str, bool]]]:
    seen: list[tuple[str, bool]] = []

    async def validate(one: ChannelPlug) -> str:
        return one.digest

    channels = Channels(
        HandClock(),
        host=lambda name: cast(Host, SimpleNamespace(name=name)),
        validate=validate,
        changed=lambda name, opened: seen.append((name, opened)),
        backoff=QUICK,
        circuit=3,
    )
    return channels, seen


async def test_channels_follow_what_the_folder_says() -> None:
    channels, seen = make()
    module = Module()
    await channels.sync({"a": plug("a", module), "b": plug("b", module)})
    await channels.settled()
    assert sorted(channels) == ["a", "b"]
    await channels.sync({"a": plug("a", module, digest="2")})
    await channels.settled()
    assert sorted(channels) == ["a"] and sorted(channels.known) == ["a"]
    assert module.opened == ["1", "1", "2"] and module.closed == ["1", "1"]
    await channels.sync({"a": plug("a", module, digest="2")})  # nothing has changed
    assert module.opened == ["1", "1", "2"]
    await channels.close()
    assert len(channels) == 0 and seen[-1] == ("a", False)


async def test_C26_one_that_breaks_stops_no_other_and_is_shown() -> None:
    channels, _ = make()
    await channels.sync({"bad": plug("bad", Module(broken=True)), "good": plug("good", Module())})
    await channels.settled()
    await until(lambda: channels.states()["bad"]["state"] == "circuit-open")
    assert "token revoked" in channels.states()["bad"]["error"]
    assert list(channels) == ["good"] and channels.states()["good"]["state"] == "open"
    await channels.close()


async def test_an_edit_closes_the_circuit() -> None:
    channels, _ = make()
    await channels.sync({"a": plug("a", Module(broken=True))})
    await until(lambda: channels.states()["a"]["state"] == "circuit-open")
    await channels.sync({"a": plug("a", Module(), digest="2")})
    await until(lambda: "a" in channels)
    await channels.close()


async def test_a_channel_that_does_not_close_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(room, "CLOSING", 0.01)
    channels, _ = make()
    module = Module(stuck=True)
    await channels.sync({"a": plug("a", module)})
    await channels.settled()
    [held] = channels.known.values()
    await channels.close()
    assert "does not close" in caplog.text
    module.closed.append("again")  # let it go, for the test's own end
    held.task.cancel()
    await asyncio.gather(held.task, return_exceptions=True)


async def test_a_channel_whose_opening_hangs_does_not_hold_up_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(Module):
        @asynccontextmanager
        async def open(self, settings: Any, host: Any) -> AsyncIterator[Box]:
            await asyncio.Event().wait()
            yield Box()

    monkeypatch.setattr(room, "SETTLING", 0.05)
    channels, _ = make()
    await channels.sync({"bad": plug("bad", Silent()), "good": plug("good", Module())})
    async with asyncio.timeout(5):
        await channels.settled()
    assert list(channels) == ["good"]
    assert channels.states()["bad"]["state"] == "opening"
    await channels.close()
