"""Notices when somebody deletes or replaces the store's files under a running daemon."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from wakeful.errors import StoreBroken, WakefulError
from wakeful.store.query import Driver

log = logging.getLogger(__name__)

Inode = tuple[int, int]


class Watch:
    """Compares the files at their paths with those that the first transaction saw."""

    def __init__(self, path: Path) -> None:
        self._paths = (os.fspath(path), f"{path}-wal")
        self._seen: dict[str, Inode] = {}

    def look(self, line: Driver, stop: Callable[[WakefulError], None]) -> None:
        """Stop all writes when a file is not the one that was opened."""
        for path in self._paths:
            now = _inode(path)
            before = self._seen.get(path)
            if before is None and now is not None:
                self._seen[path] = now
            elif now != before:
                error = self._lost(path, now, line)
                stop(error)
                raise error

    def _lost(self, path: str, now: Inode | None, line: Driver) -> WakefulError:
        name = os.path.basename(path)
        if now is None and path.endswith("-wal") and self._written_back(line):
            return StoreBroken(
                f"{name} was deleted under the running daemon; what it held was written back. "
                "Restart the daemon, and keep other programs away from its files"
            )
        return StoreBroken(
            f"{name} was replaced under the running daemon, so writing stopped. Stop the daemon, "
            "keep a copy of the files, and see docs/operations.md before you start it again"
        )

    def _written_back(self, line: Driver) -> bool:
        """Our descriptor still has every commit, and nobody has begun a new log: fold it back."""
        if _inode(self._paths[0]) != self._seen[self._paths[0]]:
            return False
        try:
            return bool(line.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        except sqlite3.Error as error:
            log.error("the log could not be written back: %s", error, extra={"action": "store_wal"})
            return False


def _inode(path: str) -> Inode | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
