"""How many events a second are accepted, and how long one takes while runs use up the CPU."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import median

from benchmarks.cpu_per_event import settings
from benchmarks.load import Load, p99
from benchmarks.model_server import HOLD
from benchmarks.process import Daemon, daemon, first_line, python

ROUNDS = 3
EVENTS = 1500  # in a round
CONCURRENCY = 50
PACED = 300  # events for one p99
EVERY = 0.02  # seconds between paced events
BACKLOG = 1200  # events on threads of their own, more than can be run meanwhile
HELD = "console/held"  # a thread whose run never ends, so that its events are only accepted
TEXT = "hello " * 100
_numbers = count()


def bodies(events: int) -> Iterator[dict[str, str]]:
    for _ in range(events):
        yield {"thread": HELD, "id": f"bench-{next(_numbers)}", "text": TEXT}


def rate(port: int, path: str, token: str = "") -> float:
    return asyncio.run(Load(port, path, token).run(bodies(EVENTS), CONCURRENCY))


def paced_p99(running: Daemon) -> float:
    load = Load(running.port, "/api/messages", running.token)
    asyncio.run(load.paced(bodies(PACED), EVERY))
    return p99(load.latencies)


def saturated_p99(running: Daemon) -> float:
    """The same while a backlog keeps every worker busy; a round that ran dry does not count."""
    backlog = ({"thread": f"console/{next(_numbers)}", "text": TEXT} for _ in range(BACKLOG))
    asyncio.run(Load(running.port, "/api/messages", running.token).run(backlog, CONCURRENCY))
    found = paced_p99(running)
    if running.open_runs() < CONCURRENCY:
        raise RuntimeError("the backlog ran dry before the measurement ended; raise BACKLOG")
    running.rest(1)  # the held one
    return found


def measure(folder: Path) -> dict[str, float]:
    """Accepted events per second against one fsynced insert each, and the p99 under load."""
    with python("-m", "benchmarks.model_server") as model:
        config = settings(f"http://127.0.0.1:{first_line(model)}/v1")
        with (
            python("-m", "benchmarks.fsynced", str(folder / "fsynced.db")) as plain,
            daemon(folder / "accept", config) as ours,
        ):
            port = int(first_line(plain))
            ours.post(HELD, HOLD)
            pairs = [
                (rate(port, "/messages"), rate(ours.port, "/api/messages", ours.token))
                for _ in range(ROUNDS)
            ]
            idle = median(paced_p99(ours) for _ in range(ROUNDS))
            busy = median(saturated_p99(ours) for _ in range(ROUNDS))
    return {
        "fsynced_per_second": median(pair[0] for pair in pairs),
        "wakeful_per_second": median(pair[1] for pair in pairs),
        "ratio": median(pair[1] / pair[0] for pair in pairs),
        "idle_p99_ms": idle * 1000,
        "busy_p99_ms": busy * 1000,
        "p99_ratio": busy / idle,
    }
