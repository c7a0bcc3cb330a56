"""All that a skill's folder carries, read once: what is shown, accepted and pinned is the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wakeful.errors import Refused

MOST_FILES = 500
MOST_BYTES = 10_000_000
# Never part of a skill, and never shown to the agent.
ASIDE = frozenset({".git", ".hg", ".svn", "__pycache__", ".DS_Store"})


@dataclass(frozen=True, slots=True)
class Carried:
    """Files by their path below the folder, and those that may be executed."""

    files: Mapping[str, bytes]
    executable: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """The same for the same names and bytes, and for nothing else."""
        whole = hashlib.sha256()
        for name, data in sorted(self.files.items()):
            for part in (name.encode("utf-8", "surrogateescape"), data):
                whole.update(len(part).to_bytes(8, "big") + part)
        return whole.hexdigest()


def carried(folder: Path) -> Carried:
    """Read a folder, hidden files included. Links are not followed; too much is Refused."""
    files: dict[str, bytes] = {}
    executable: set[str] = set()
    left = MOST_BYTES
    for path in _files(folder):
        size = path.stat().st_size
        left -= size
        if left < 0 or len(files) == MOST_FILES:
            raise Refused(
                f"it is too large for a skill: {MOST_FILES} files and {MOST_BYTES:,} bytes at most"
            )
        name = path.relative_to(folder).as_posix()
        files[name] = path.read_bytes()
        if os.access(path, os.X_OK):
            executable.add(name)
    return Carried(files, frozenset(executable))


def is_aside(path: str) -> bool:
    """Whether a path below a skill's folder is no part of the skill."""
    return not ASIDE.isdisjoint(path.strip("/").split("/"))


def _files(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ASIDE)
        for name in sorted(names):
            path = Path(where, name)
            if name not in ASIDE and path.is_file() and not path.is_symlink():
                yield path
