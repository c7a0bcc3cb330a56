"""A breaker for the whole daemon: while the model's provider is down, claiming pauses.

Events do not burn their attempts on an outage. When the pause is over one event may try; if it
gets through, everybody goes on.
"""

from __future__ import annotations

from wakeful.backoff import Backoff
from wakeful.host import Clock

OUTAGE = Backoff(first=5.0, cap=120.0)  # seconds
PATIENCE = 30.0  # seconds until another event may try, while the one that tries is still at work


class Breaker:
    """Closed: everything may be claimed. Open: nothing. After the pause: one event at a time."""

    def __init__(self, clock: Clock, *, backoff: Backoff = OUTAGE) -> None:
        self._clock, self._backoff = clock, backoff
        self._failures = 0
        self._until = 0.0  # boot-time clock, seconds
        self._probe: int | None = None  # seq of the event that tries
        self.reason = ""

    @property
    def open(self) -> bool:
        return self._failures > 0

    def room(self, free: int) -> int:
        """How many of the free places may be filled now."""
        if not self.open:
            return free
        if self._clock.boot() < self._until:
            return 0
        return min(free, 1)

    def started(self, seq: int) -> None:
        if self.open:
            self._probe = seq
            self._until = self._clock.boot() + PATIENCE

    def failed(self, seq: int, reason: str, *, retry_after: float | None) -> float:
        """Note an outage; returns the seconds until the next try."""
        if self._probe in (None, seq) or not self.open:
            self._failures += 1
        self._release(seq)
        self.reason = reason
        pause = self._backoff.after(self._failures, asked=retry_after)
        self._until = max(self._until, self._clock.boot() + pause)
        return pause

    def passed(self, seq: int) -> None:
        """The provider answered: everybody may go on."""
        self._release(seq)
        self._failures, self._until, self.reason = 0, 0.0, ""

    def left(self, seq: int) -> None:
        """The event ended in a way that says nothing about the provider."""
        self._release(seq)

    def pause(self) -> float | None:
        """Seconds until one event may try, or None when nothing is held back."""
        if not self.open:
            return None
        return max(0.0, self._until - self._clock.boot())

    def _release(self, seq: int) -> None:
        if self._probe == seq:
            self._probe, self._until = None, 0.0
