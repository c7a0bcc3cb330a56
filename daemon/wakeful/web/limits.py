"""No request body may be endless: not in bytes, and not in time."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

BODY_BYTES = 1_000_000  # of the API and the page
MOUNT_BYTES = 26_000_000  # of what channels mount; each has a smaller limit of its own
BODY_SECONDS = 20.0  # from the end of the headers to the end of the body
LINGER_BYTES = 4_000_000  # read and thrown away, so that the sender gets to see the answer
LINGER_SECONDS = 1.0


def too_large(limit: int) -> HTTPException:
    sentence = f"The body is larger than {limit:,} bytes; send less."
    return HTTPException(413, sentence, {"connection": "close"})


def too_slow() -> HTTPException:
    sentence = "The body did not arrive in time; send it again, faster."
    return HTTPException(408, sentence, {"connection": "close"})


class Body:
    """`receive` of one request, counted and timed until the body has arrived."""

    def __init__(self, receive: Receive, *, limit: int, seconds: float = BODY_SECONDS) -> None:
        self._receive, self._limit = receive, limit
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._size, self.complete = 0, False

    def announce(self, length: str) -> None:
        """Refuse a body by its Content-Length, before a byte of it is read."""
        if length.isdigit() and (len(length) > 12 or int(length) > self._limit):
            raise too_large(self._limit)

    async def receive(self) -> Message:
        if self.complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise too_slow() from None
        self._size += len(message.get("body", b""))
        self.complete = not message.get("more_body", False)
        if self._size > self._limit:
            raise too_large(self._limit)
        return message

    async def linger(self) -> None:
        """Swallow what is still on its way, within reason."""
        left = LINGER_BYTES
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while not self.complete and left > 0:
                    message = await self._receive()
                    left -= len(message.get("body", b""))
                    self.complete = not message.get("more_body", False)
        except TimeoutError:
            return
