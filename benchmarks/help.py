"""How long `wakeful --help` takes against an empty interpreter."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

ROUNDS = 15


def _seconds(*arguments: str) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure() -> dict[str, float]:
    """Milliseconds of wall time, medians of interleaved rounds, and their ratio."""
    help_command = "from wakeful.cli import main; main(['--help'])"
    pairs = [(_seconds("-c", "pass"), _seconds("-c", help_command)) for _ in range(ROUNDS)]
    empty, ours = (median(pair[side] for pair in pairs) for side in (0, 1))
    return {"empty_ms": empty * 1000, "wakeful_ms": ours * 1000, "ratio": ours / empty}
