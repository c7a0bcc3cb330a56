"""The machine's clocks."""

from __future__ import annotations

import time

_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """Wall time, and the clock that goes on while the machine sleeps."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def boot(self) -> float:
        return time.clock_gettime(_BOOT)
