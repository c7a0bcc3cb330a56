"""How long to wait before the next attempt: one arithmetic for events, replies and parts."""

from __future__ import annotations

import random
from dataclasses import dataclass

JITTER = 0.2  # share of the delay, either way


@dataclass(frozen=True, slots=True)
class Backoff:
    """Doubling delays with jitter and a cap, in seconds."""

    first: float
    cap: float

    def delay(self, failures: int, *, chance: float | None = None) -> float:
        """The wait after the n-th failure in a row, from 1; `chance` in 0..1 replaces the dice."""
        dice = random.random() if chance is None else chance
        plain = min(self.cap, self.first * 2.0 ** min(max(failures, 1) - 1, 32))
        return plain * (1 - JITTER + 2 * JITTER * dice)

    def after(self, failures: int, *, asked: float | None, chance: float | None = None) -> float:
        """As `delay`, but never earlier than the other side asked for (its Retry-After)."""
        return max(asked or 0.0, self.delay(failures, chance=chance))
