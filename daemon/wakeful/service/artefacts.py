"""Bytes that events and replies carry: one file per content, below the agent's private folder."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
from pathlib import Path

from wakeful.errors import Refused, Unknown
from wakeful.events import Attachment

LIMIT = 25_000_000  # bytes of one artefact
_ID = re.compile(r"[0-9a-f]{64}")


class Artefacts:
    """Write once, named by content, so that writing it twice is nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def write(self, data: bytes, *, name: str, media_type: str) -> Attachment:
        if len(data) > LIMIT:
            raise Refused(f"{name} is larger than {LIMIT:,} bytes; send a link to it instead")
        digest = hashlib.sha256(data).hexdigest()
        await asyncio.to_thread(_write, self._path(digest), data)
        return Attachment(name=name, media_type=media_type, artefact=digest, size=len(data))

    async def read(self, id: str) -> bytes:
        if not _ID.fullmatch(id):
            raise Unknown(f"there is no artefact {id[:80]!r}")
        try:
            return await asyncio.to_thread(self._path(id).read_bytes)
        except FileNotFoundError:
            raise Unknown(f"the artefact {id} is not kept any more") from None

    async def forget(self, days: int, *, now: int) -> int:
        """Delete what nobody has written for so many days; returns how many."""
        return await asyncio.to_thread(_forget, self._folder, now / 1000 - days * 86_400)

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest


def _forget(folder: Path, before: float) -> int:
    old = [path for path in folder.glob("??/*") if path.stat().st_mtime < before]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _write(path: Path, data: bytes) -> None:
    if path.exists():
        os.utime(path)  # in use again: retention counts from now
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
