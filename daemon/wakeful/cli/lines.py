"""What the person types, line by line, without ever blocking the loop."""

from __future__ import annotations

import asyncio
import codecs
import os
import threading
from collections.abc import Sequence

CHUNK = 65_536


class Lines:
    """A thread reads, since a file cannot be waited for in any other way; None is the end.

    It reads the descriptor itself: a thread inside `sys.stdin` would hold a lock that Python wants
    at its end.
    """

    def __init__(self, descriptor: int) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def next(self) -> str | None:
        return await self._queue.get()

    def put(self, line: str | None) -> None:
        """As if it had been typed."""
        self._queue.put_nowait(line)

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        rest = ""
        try:
            while data := os.read(self._descriptor, CHUNK):
                *lines, rest = (rest + decoder.decode(data)).split("\n")
                self._hand_over(lines)
        except OSError:  # it was closed under us: nobody types any more
            return
        finally:
            self._hand_over([rest, None] if rest else [None])

    def _hand_over(self, lines: Sequence[str | None]) -> None:
        if not self._loop.is_closed():
            for line in lines:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
