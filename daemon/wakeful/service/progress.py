"""Progress of a run, handed to the channel that the answer will go to, if it shows any.

The run never waits for the channel; before the answer is written the channel is waited for, so
that whatever it has shown until then is known to the one who sends the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import replace

from wakeful.channel import Channel
from wakeful.events import Claim, Update

Emit = Callable[[Update], None]

BEHIND = 200  # updates that a slow channel may be behind; then it misses the oldest
PATIENCE = 10.0  # seconds for one update
CLOSING = 5.0  # seconds for what is left when the run has ended

log = logging.getLogger(__name__)


class Progress:
    """Who is told of a run: those who watch it, and its channel."""

    def __init__(
        self, channels: Mapping[str, Channel], watch: Callable[[Claim], Emit | None]
    ) -> None:
        self._channels, self._watch = channels, watch
        self._tellers: dict[int, _Teller] = {}

    def watch(self, claim: Claim) -> Emit | None:
        """Where a run tells its progress, or None when nobody would hear it."""
        watched = self._watch(claim)
        channel = self._channels.get(claim.event.address.partition(":")[0])
        if not getattr(channel, "shows_progress", False) or channel is None:
            return watched
        teller = self._tellers[claim.seq] = _Teller(channel, claim)
        if watched is None:
            return teller.tell
        bus: Emit = watched

        def both(update: Update) -> None:
            bus(update)
            teller.tell(update)

        return both

    async def settle(self, claim: Claim) -> None:
        """The run has ended: wait until its channel has shown what it is going to show."""
        teller = self._tellers.pop(claim.seq, None)
        if teller is not None:
            await teller.end()


class _Teller:
    """Tells one channel of one run, one update after the other."""

    def __init__(self, channel: Channel, claim: Claim) -> None:
        self._channel, self._claim = channel, claim
        self._queue: deque[Update] = deque(maxlen=BEHIND)
        self._bell, self._ended = asyncio.Event(), False
        name = f"progress-{claim.seq}"
        # Without the run's context: what people wait for goes before what runs compute.
        self._task = asyncio.create_task(self._run(), name=name, context=Context())

    def tell(self, update: Update) -> None:
        """Queue an update; pieces of text that wait become one."""
        last = self._queue[-1] if self._queue else None
        if last is not None and last.kind == update.kind == "text" and last.agent == update.agent:
            self._queue[-1] = replace(last, text=last.text + update.text)
        else:
            self._queue.append(update)
        self._bell.set()

    async def end(self) -> None:
        self._ended = True
        self._bell.set()
        _, late = await asyncio.wait({self._task}, timeout=CLOSING)
        if late:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        try:
            while True:
                while self._queue:
                    async with asyncio.timeout(PATIENCE):
                        await self._channel.progress(self._claim, self._queue.popleft())
                if self._ended:
                    return
                self._bell.clear()
                await self._bell.wait()
        except Exception as error:  # the answer comes by itself
            log.warning(
                "The channel of event %d shows no more progress of it: %s",
                self._claim.seq,
                str(error) or type(error).__name__,
                extra={"action": "progress_lost", "event": self._claim.seq},
            )
