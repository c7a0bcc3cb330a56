"""The folder, looked at again every few seconds, so that an edit reaches the running daemon."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from wakeful.plugs import Folder, Snapshot

log = logging.getLogger(__name__)

SCAN_EVERY = 5.0  # seconds


async def keep_reloading(
    folder: Folder,
    adopt: Callable[[Snapshot], Awaitable[None]],
    *,
    current: Snapshot,
    every: float = SCAN_EVERY,
) -> None:
    """Hand on every new snapshot; a scan that fails keeps the last good one and says so."""
    while True:
        await asyncio.sleep(every)
        try:
            new = await asyncio.to_thread(folder.scan)
            if new is current or new == current:
                continue
            await adopt(new)
            current = new  # one that could not be taken over is tried again
            log.info("The folder changed and is in use.", extra={"action": "folder_adopted"})
        except Exception:
            log.exception(
                "The folder could not be taken over; the last good version stays in use.",
                extra={"action": "folder_scan_failed"},
            )
