"""`wakeful run FOLDER`, armed with a crash point or with a wrong clock when the test says so."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.acceptance.points import arm
from wakeful.cli import main


def shift_clock(seconds: int) -> None:
    """Let the wall clock of this process be wrong."""
    from wakeful.service.time import SystemClock

    right = SystemClock.now
    SystemClock.now = lambda self: right(self) + seconds * 1000  # type: ignore[method-assign]


def arm_later(file: Path) -> None:
    """Arm this process when SIGUSR1 says that the file names a point; it is gone when that is done.

    A point that counts from the instant of the test needs no process of its own.
    """

    def now(*_: object) -> None:
        arm(file.read_text())
        file.unlink()

    signal.signal(signal.SIGUSR1, now)


if __name__ == "__main__":
    if point := os.environ.get("WAKEFUL_TEST_CRASH_AT"):
        arm(point)
    arm_later(Path(os.environ["WAKEFUL_TEST_ARM"]))
    if shift := os.environ.get("WAKEFUL_TEST_CLOCK"):
        shift_clock(int(shift))
    main(["run", sys.argv[1]])
