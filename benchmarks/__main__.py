"""`python -m benchmarks [NAME ...]`: measure, print, and fail where a ratio is over its bound."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import accept, claim, cpu_per_event, help, idle, turns

Measure = Callable[[Path], dict[str, float]]

# name: how to measure, and for each bounded value its lowest and highest
SUITE: dict[str, tuple[Measure, dict[str, tuple[float, float]]]] = {
    "help": (lambda folder: help.measure(), {"ratio": (0, 5.0)}),
    "claim": (claim.measure, {"ratio": (0, 1.5)}),
    "cpu_per_event": (cpu_per_event.measure, {"ratio": (0, 1.15)}),
    "accept": (accept.measure, {"ratio": (2.0, float("inf")), "p99_ratio": (0, 5.0)}),
    "idle": (idle.measure, {"cpu_percent": (0, 0.2)}),
    "turns": (turns.measure, {"cpu_ratio": (0, 1.5), "bytes_ratio": (0, 1.5)}),
}


def _run(name: str) -> bool:
    measure, bounds = SUITE[name]
    with tempfile.TemporaryDirectory(prefix="wakeful-bench-") as folder:
        found = measure(Path(folder))
    held = all(low <= found[key] <= high for key, (low, high) in bounds.items())
    wanted = ", ".join(f"{key} within {low:g}..{high:g}" for key, (low, high) in bounds.items())
    print(f"{'ok  ' if held else 'OVER'} {name}: {wanted}", flush=True)
    print("     " + json.dumps({key: round(value, 3) for key, value in found.items()}), flush=True)
    return held


def main() -> int:
    names = sys.argv[1:] or list(SUITE)
    if unknown := [name for name in names if name not in SUITE]:
        print(f"no benchmark is called {unknown[0]}; there are {', '.join(SUITE)}")
        return 2
    os.environ.pop("WAKEFUL_MODEL", None)  # the folders of the benchmarks say it themselves
    return 0 if all([_run(name) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
