"""Is the database whole? Asked before a daemon starts to write."""

from __future__ import annotations

from pathlib import Path

from wakeful.errors import StoreBroken
from wakeful.store.query import Driver


def check_integrity(line: Driver, path: Path) -> None:
    """Read through the file; raises StoreBroken at the first damage, and changes nothing."""
    row = line.execute("PRAGMA quick_check(1)").fetchone()
    if row is not None and row[0] != "ok":
        found = " ".join(row[0].split())
        raise StoreBroken(
            f"{path.name} is damaged ({found}); nothing was changed. Keep a copy of the file and "
            "of its -wal file, then restore the last backup (docs/operations.md)"
        )
