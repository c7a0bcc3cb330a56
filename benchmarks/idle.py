"""CPU of a daemon that has nothing to do."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.process import cpu_ms, daemon

SETTLE = 10.0  # seconds after the start
WATCH = 60.0  # seconds


def measure(folder: Path) -> dict[str, float]:
    """Share of one core, in per cent, over a minute."""
    with daemon(folder / "idle", 'model = "rehearsal"\n') as ours:
        time.sleep(SETTLE)
        before = cpu_ms(ours.pid)
        time.sleep(WATCH)
        spent = cpu_ms(ours.pid) - before
    return {"cpu_percent": spent / (WATCH * 1000) * 100}
