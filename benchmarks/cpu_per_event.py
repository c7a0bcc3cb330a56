"""CPU of the whole daemon for one event against a bare deep agent behind an endpoint."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import httpx

from benchmarks.process import Daemon, cpu_ms, daemon, first_line, python

WARM_UP = 30  # events
ROUNDS = 5
EVENTS = 100  # in a round, each on a thread of its own
TEXT = "Please note this, it matters. " * 5


def settings(model_url: str) -> str:
    return (
        'model = "openai:bench"\n\n[model_options]\n'
        f'base_url = "{model_url}"\napi_key = "none"\nuse_responses_api = false\n'
    )


def bare_round(pid: int, client: httpx.Client, name: str, events: int) -> float:
    before = cpu_ms(pid)
    for number in range(events):
        body = {"thread": f"{name}-{number}", "text": TEXT}
        client.post("/messages", json=body).raise_for_status()
    return (cpu_ms(pid) - before) / events


def wakeful_round(running: Daemon, name: str, events: int) -> float:
    before = cpu_ms(running.pid)
    for number in range(events):
        running.post(f"console/{name}-{number}", TEXT)
    running.settle()
    return (cpu_ms(running.pid) - before) / events


def measure(folder: Path) -> dict[str, float]:
    """Milliseconds of CPU per event, the median of interleaved rounds, and their ratio."""
    with python("-m", "benchmarks.model_server") as model:
        model_url = f"http://127.0.0.1:{first_line(model)}/v1"
        with (
            python("-m", "benchmarks.bare", str(folder / "bare.db"), model_url) as bare,
            daemon(folder / "agent", settings(model_url)) as ours,
        ):
            base = f"http://127.0.0.1:{first_line(bare)}"
            with httpx.Client(base_url=base, timeout=60, trust_env=False) as client:
                bare_round(bare.pid, client, "warm", WARM_UP)
                wakeful_round(ours, "warm", WARM_UP)
                pairs = [
                    (
                        bare_round(bare.pid, client, f"b{number}", EVENTS),
                        wakeful_round(ours, f"w{number}", EVENTS),
                    )
                    for number in range(ROUNDS)
                ]
    return {
        "bare_ms": median(pair[0] for pair in pairs),
        "wakeful_ms": median(pair[1] for pair in pairs),
        "ratio": median(pair[1] / pair[0] for pair in pairs),
    }
