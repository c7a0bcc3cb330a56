"""Files that are whole at every instant: written aside, then put in place."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path


def put(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Let the file hold this, or stay as it was; for whoever is its only writer.

    A killed process leaves its draft behind. The draft's name follows from the file's, so that the
    next write uses it up and there is never more than one.
    """
    draft = path.with_name(f".~{hashlib.sha256(path.name.encode()).hexdigest()[:16]}")
    try:
        _write(draft, data, mode)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    _settle(path.parent)


def _write(path: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        os.chmod(path, mode)  # a draft that was left behind has its own
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Let the new name survive a loss of power too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
