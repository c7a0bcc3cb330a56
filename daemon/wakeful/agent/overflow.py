"""What grew too large for a thread lies in files beside the workspace, and is not kept for ever."""

from __future__ import annotations

import logging
from pathlib import Path

log = logging.getLogger(__name__)


def sweep(folder: Path, before: float) -> int:
    """Delete files that were not touched since `before` (seconds, UTC); says how many."""
    gone = 0
    for path in sorted(folder.rglob("*"), reverse=True):  # what is in a folder before the folder
        try:
            if path.is_file() and path.stat().st_mtime < before:
                path.unlink()
                gone += 1
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        except OSError as error:
            log.warning("%s stays: %s", path.name, error, extra={"action": "overflow_kept"})
    return gone
