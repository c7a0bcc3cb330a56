"""What a turn costs late in a long conversation against early in it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.cpu_per_event import settings
from benchmarks.process import (
    Daemon,
    cpu_ms,
    daemon,
    first_line,
    python,
    written_bytes,
)

TEXT = "A sentence about the day, which is long enough to be one. " * 8  # about 500 bytes
WINDOW = 50  # turns measured up to turn 100 and up to turn 1,000
CONTEXT = 16_000  # tokens: the model's window, so that the conversation must be summarised


def _size(store: Path) -> int:
    files = (store, store.with_name(store.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _turns(running: Daemon, count: int) -> None:
    for _ in range(count):
        running.post("console/long", TEXT)
        running.settle()


def _window(running: Daemon) -> tuple[float, float]:
    cpu, written = cpu_ms(running.pid), written_bytes(running.pid)
    _turns(running, WINDOW)
    spent = cpu_ms(running.pid) - cpu
    return spent / WINDOW, (written_bytes(running.pid) - written) / WINDOW


def measure(folder: Path) -> dict[str, float]:
    """CPU (ms) and bytes written per turn, up to turn 100 and turn 1,000; the file's size (MB)."""
    with python("-m", "benchmarks.model_server") as model:
        config = settings(f"http://127.0.0.1:{first_line(model)}/v1")
        config += f"\n[limits]\ncontext = {CONTEXT}\n"
        with daemon(folder / "turns", config) as ours:
            _turns(ours, 100 - WINDOW)
            early_cpu, early_bytes = _window(ours)
            _turns(ours, 900 - WINDOW)
            late_cpu, late_bytes = _window(ours)
            size = _size(ours.store) / 1e6
    return {
        "cpu_ratio": late_cpu / early_cpu,
        "bytes_ratio": late_bytes / early_bytes,
        "early_ms": early_cpu,
        "late_ms": late_cpu,
        "early_bytes": early_bytes,
        "late_bytes": late_bytes,
        "file_mb": size,
    }
