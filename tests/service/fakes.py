"""A clock that tests move by hand."""

from __future__ import annotations


class HandClock:
    """Wall time and boot time go on together, when told to."""

    def __init__(self, now: int = 1_800_000_000_000) -> None:
        self._now, self._boot = now, 1000.0

    def now(self) -> int:
        return self._now

    def boot(self) -> float:
        return self._boot

    def move(self, seconds: float) -> None:
        self._now += int(seconds * 1000)
        self._boot += seconds
