"""`wakeful run FOLDER`, armed with a crash point or with a wrong clock when the test says so."""

from __future__ import annotations

import os
import sys

from tests.acceptance.points import arm
from wakeful.cli import main


def shift_clock(seconds: int) -> None:
    """Let the wall clock of this process be wrong."""
    from wakeful.service.time import SystemClock

    right = SystemClock.now
    SystemClock.now = lambda self: right(self) + seconds * 1000  # type: ignore[method-assign]


if __name__ == "__main__":
    if point := os.environ.get("WAKEFUL_TEST_CRASH_AT"):
        arm(point)
    if shift := os.environ.get("WAKEFUL_TEST_CLOCK"):
        shift_clock(int(shift))
    main(["run", sys.argv[1]])
