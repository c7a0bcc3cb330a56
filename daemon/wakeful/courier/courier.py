"""The courier: takes replies from the outbox, hands them to channels, writes down what came of it.

A reply that may have left already is looked up at its destination before it is sent again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from wakeful.backoff import Backoff
from wakeful.channel import Channel
from wakeful.courier.alerts import alert
from wakeful.courier.policy import Policy
from wakeful.errors import Refused, RetryLater, StoreBroken
from wakeful.events import Receipt, Reply
from wakeful.host import Clock
from wakeful.redact import redact
from wakeful.store import Store

log = logging.getLogger(__name__)

LOOK = 30.0  # seconds; the longest sleep before the outbox is looked at again
TROUBLE = Backoff(first=1.0, cap=30.0)  # seconds while the store refuses
UNWRITTEN = 5.0  # seconds until a delivery that could not be recorded is looked up


class Courier:
    """Delivers what the outbox holds. `channels` are the open ones, `known` the configured ones."""

    def __init__(
        self,
        store: Store,
        channels: Mapping[str, Channel],
        clock: Clock,
        *,
        known: Mapping[str, object] | None = None,
        routes: Sequence[str] = (),
        policy: Policy | None = None,
        redact: Callable[[str], str] = redact,
    ) -> None:
        self._store, self._clock = store, clock
        self._channels, self._known = channels, channels if known is None else known
        self.routes = tuple(routes)
        self.policy = policy or Policy()
        self._redact = redact
        self._bell = store.mail
        self._flying: dict[int, asyncio.Task[None]] = {}
        self._busy: Counter[str] = Counter()  # how many of them by each channel
        self._doubtful: dict[int, Reply] = {}
        self._closing = self._looked = False
        self._refusals = 0

    def wake(self) -> None:
        """The outbox or the set of open channels has changed: look now."""
        self._bell.set()

    async def run(self) -> None:
        """Deliver until cancelled or drained."""
        while not self._closing:
            self._bell.clear()
            nap = await self._fill()
            with suppress(TimeoutError):
                async with asyncio.timeout(nap):
                    await self._bell.wait()

    async def drain(self, seconds: float) -> None:
        """Deliver what is due now, within the time; the rest waits for the next start."""
        self._closing = True
        self.wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while await self._fill() == 0.0 or self._flying:
                    if self._flying:
                        await asyncio.wait(self._flying.values(), return_when="FIRST_COMPLETED")
        for task in list(self._flying.values()):
            task.cancel()
        await asyncio.gather(*self._flying.values(), return_exceptions=True)

    async def _fill(self) -> float:
        """Start as many deliveries as there is room for; returns seconds until more can be due."""
        try:
            await self._look_for_doubtful()
            room = self._room()
            if room <= 0:
                return LOOK
            replies = await self._store.take_replies(room)
            for reply in replies:
                self._start(reply, doubtful=reply.attempts > 1)
            due = None if replies else await self._store.next_reply_due()
        except Exception as error:
            self._refusals += 1
            log.error(
                "The outbox cannot be read: %s",
                error,
                exc_info=not isinstance(error, StoreBroken),
                extra={"action": "courier_paused"},
            )
            return TROUBLE.delay(self._refusals)
        self._refusals = 0
        if replies:
            return 0.0
        return LOOK if due is None else min(LOOK, max(0.001, (due - self._clock.now()) / 1000))

    def _room(self) -> int:
        """How many replies may be taken whatever their channel; one that is full gets none."""
        share = self.policy.per_channel
        full = {name for name, busy in self._busy.items() if busy >= share}
        self._store.hold_back(frozenset(full))
        busiest = max((busy for name, busy in self._busy.items() if name not in full), default=0)
        return min(self.policy.at_once - len(self._flying), share - busiest)

    async def _look_for_doubtful(self) -> None:
        """What a dead daemon was sending comes first; it waits for its channel to be open."""
        if not self._looked:
            self._doubtful = {reply.id: reply for reply in await self._store.doubtful()}
            self._looked = True
        for reply in list(self._doubtful.values()):
            room = self._busy[reply.channel] < self.policy.per_channel
            if room and (reply.channel in self._channels or reply.channel not in self._known):
                del self._doubtful[reply.id]
                self._start(reply, doubtful=True)

    def _start(self, reply: Reply, *, doubtful: bool) -> None:
        task = asyncio.create_task(self._one(reply, doubtful), name=f"reply-{reply.id}")
        self._flying[reply.id] = task
        self._busy[reply.channel] += 1

    async def _one(self, reply: Reply, doubtful: bool) -> None:
        try:
            await self._deliver(reply, doubtful)
        except Exception as error:
            # The row stays `sending`: it is doubtful, and looked up once the store is well again.
            log.error(
                "What came of reply %d cannot be written: %s",
                reply.id,
                error,
                exc_info=not isinstance(error, StoreBroken),
                extra={"action": "receipt_unwritten"},
            )
            await asyncio.sleep(UNWRITTEN)
            self._doubtful[reply.id] = reply
        finally:
            del self._flying[reply.id]
            self._busy[reply.channel] -= 1
            self.wake()

    async def _deliver(self, reply: Reply, doubtful: bool) -> None:
        channel = self._channels.get(reply.channel)
        if channel is None:
            await self._without_channel(reply)
            return
        try:
            receipt = await self._hand_over(channel, reply, doubtful)
        except Refused as error:
            await self._give_up(reply, str(error))
        except RetryLater as error:
            await self._again(reply, str(error), error.after)
        except (Exception, SystemExit) as error:  # whatever a channel raises is its own fault
            sentence = str(error) or "no answer in time"
            await self._again(reply, f"{type(error).__name__}: {sentence}", None)
        else:
            await self._store.sent(reply, receipt)
            log.debug("Reply %d is delivered.", reply.id, extra={"action": "reply_sent"})

    async def _hand_over(self, channel: Channel, reply: Reply, doubtful: bool) -> Receipt:
        if reply.kind == "decided":
            return await self._amend(channel, reply)
        async with asyncio.timeout(self.policy.timeout):
            found = await channel.find(reply) if doubtful else None
        if found is not None:
            return _receipt(found, reply)
        async with asyncio.timeout(self.policy.timeout):
            return _receipt(await channel.send(reply), reply)

    async def _amend(self, channel: Channel, reply: Reply) -> Receipt:
        """Let a card show how its question ended; doing that twice is nothing."""
        card = await self._store.card_of(reply)
        if card is None:
            return Receipt("")
        async with asyncio.timeout(self.policy.timeout):
            await channel.amend(card, reply)
        return card

    async def _without_channel(self, reply: Reply) -> None:
        if reply.channel in self._known:
            await self._again(reply, f"the channel {reply.channel} is not open", None, wait=True)
        else:
            await self._give_up(
                reply,
                f"there is no channel {reply.channel!r}; add channels/{reply.channel}.toml "
                "or correct the address",
            )

    async def _again(
        self, reply: Reply, error: str, asked: float | None, *, wait: bool = False
    ) -> None:
        if self.policy.gives_up(reply.attempts) and not wait:
            await self._give_up(reply, error)
            return
        pause, said = self.policy.pause(reply.attempts, asked), self._redact(error)
        log.warning(
            "Reply %d to %s was not delivered and is tried again in %.0f s: %s",
            reply.id,
            reply.address,
            pause,
            said,
            extra={"action": "reply_retry", "reply": reply.id, "channel": reply.channel},
        )
        await self._store.resend(reply, said, at=self._clock.now() + int(pause * 1000))

    async def _give_up(self, reply: Reply, error: str) -> None:
        said = self._redact(error)
        log.error(
            "Reply %d to %s could not be delivered: %s",
            reply.id,
            reply.address,
            said,
            extra={"action": "reply_dead", "reply": reply.id, "channel": reply.channel},
        )
        await self._store.undeliverable(reply, said)
        told = alert(reply, said, self.routes)
        if told is not None and reply.kind != "decided":
            await self._store.post(told, event_seq=reply.event_seq, thread_key=reply.thread_key)
            self.wake()


def _receipt(given: object, reply: Reply) -> Receipt:
    """What a channel returned; without a receipt it is sent all the same, and never again."""
    if isinstance(given, Receipt):
        return given
    log.error(
        "The channel %s returned no Receipt for reply %d; it counts as sent.",
        reply.channel,
        reply.id,
        extra={"action": "no_receipt", "channel": reply.channel},
    )
    return Receipt("")
