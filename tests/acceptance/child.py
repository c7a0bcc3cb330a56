"""`wakeful run FOLDER`, armed with a crash point or with a wrong clock when the test says so."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.acceptance.points import arm
from wakeful.cli import main


def shift_clock(seconds: int) -> None:
    """Let the wall clock of this process be wrong."""
    from wakeful.service.time import SystemClock

    right = SystemClock.now
    SystemClock.now = lambda self: right(self) + seconds * 1000  # type: ignore[method-assign]


def merge_waiting() -> None:
    """Let every claim take along what waits behind it, as a burst that is coalesced will."""
    from wakeful.events import Claim
    from wakeful.store import Store
    from wakeful.store.query import Session

    plain = Store.claim

    async def one(store: Store, claim: Claim) -> Claim:
        def behind(s: Session) -> list[int]:
            query = "SELECT seq FROM inbox WHERE thread_key = ? AND state = 'queued' AND seq > ?"
            rows = s.raw.execute(query, (claim.thread_key, claim.seq)).fetchall()
            return [int(row[0]) for row in rows]

        waiting = await store.db.run(behind)
        joined = await store.merge(claim, waiting) if waiting else ()
        return replace(claim, merged=(*claim.merged, *joined))

    async def claim(store: Store, limit: int) -> Any:
        claims = await plain(store, limit)
        claims[:] = [await one(store, claim) for claim in claims]
        return claims

    setattr(Store, "claim", claim)  # noqa: B010


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
    if os.environ.get("WAKEFUL_TEST_MERGE"):
        merge_waiting()
    arm_later(Path(os.environ["WAKEFUL_TEST_ARM"]))
    if shift := os.environ.get("WAKEFUL_TEST_CLOCK"):
        shift_clock(int(shift))
    main(["run", sys.argv[1]])
