"""The channels of the folder, each under supervision: one that breaks stops no other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from wakeful.backoff import Backoff
from wakeful.channel import Channel
from wakeful.host import Clock, Host
from wakeful.plugs import ChannelPlug
from wakeful.redact import redact
from wakeful.service.supervise import CIRCUIT, REOPEN, Supervised

CLOSING = 10.0  # seconds that a channel may take to close
SETTLING = 5.0  # seconds that the start waits for channels to open

log = logging.getLogger(__name__)

Validate = Callable[[ChannelPlug], Awaitable[Any]]


async def _nobody(name: str, sentence: str) -> None:
    return None


@dataclass(slots=True)
class _Held:
    plug: ChannelPlug
    part: Supervised[Channel]
    task: asyncio.Task[None]


class Channels(Mapping[str, Channel]):
    """The open channels by name; `known` has the configured ones, open or not."""

    def __init__(
        self,
        clock: Clock,
        *,
        host: Callable[[str], Host],
        validate: Validate,
        changed: Callable[[str, bool], None],
        backoff: Backoff = REOPEN,
        circuit: int = CIRCUIT,
        redact: Callable[[str], str] = redact,
        gave_up: Callable[[str, str], Awaitable[None]] = _nobody,
    ) -> None:
        self._clock, self._host, self._validate, self._redact = clock, host, validate, redact
        self._changed, self._backoff, self._circuit = changed, backoff, circuit
        self._gave_up = gave_up
        self._open: dict[str, Channel] = {}
        self.known: dict[str, _Held] = {}

    def __getitem__(self, name: str) -> Channel:
        return self._open[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)

    async def sync(self, plugs: Mapping[str, ChannelPlug]) -> None:
        """Open what is new, close what is gone, and open anew what has changed."""
        gone = [
            name
            for name, held in self.known.items()
            if name not in plugs or plugs[name].digest != held.plug.digest
        ]
        await self._close(gone)
        for name, plug in plugs.items():
            if name not in self.known:
                self.known[name] = self._start(name, plug)

    async def settled(self) -> None:
        """Wait until every channel has been tried once; one that hangs holds up nobody for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLING):
                await asyncio.gather(*(held.part.tried.wait() for held in self.known.values()))

    async def close(self) -> None:
        await self._close(list(self.known))

    def states(self) -> dict[str, dict[str, Any]]:
        """What each channel does now, for `status` and the page."""
        return {
            name: {
                "state": held.part.state,
                "error": held.part.error,
                "failures": held.part.failures,
                "use": held.plug.use,
            }
            for name, held in sorted(self.known.items())
        }

    def _start(self, name: str, plug: ChannelPlug) -> _Held:
        part = Supervised(
            f"channel {name}",
            lambda: self._opened(name, plug),
            clock=self._clock,
            probe=lambda channel: channel.probe(),
            changed=lambda channel: self._set(name, channel),
            backoff=self._backoff,
            circuit=self._circuit,
            redact=self._redact,
            gave_up=lambda sentence: self._gave_up(name, sentence),
        )
        task = asyncio.create_task(part.run(), name=f"channel-{name}")
        return _Held(plug, part, task)

    @asynccontextmanager
    async def _opened(self, name: str, plug: ChannelPlug) -> AsyncIterator[Channel]:
        settings = await self._validate(plug)
        async with plug.module.open(settings, self._host(name)) as channel:
            yield channel

    def _set(self, name: str, channel: Channel | None) -> None:
        if channel is None:
            self._open.pop(name, None)
        else:
            self._open[name] = channel
        self._changed(name, channel is not None)

    async def _close(self, names: list[str]) -> None:
        tasks = [self.known[name].task for name in names]
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSING)
            for task in late:
                log.error("%s does not close.", task.get_name(), extra={"action": "part_stuck"})
        for name in names:
            del self.known[name]
