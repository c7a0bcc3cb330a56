"""One conversation with a daemon over its API: it outlives dropped lines and restarts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpx
from httpx_sse import SSEError, aconnect_sse

from wakeful.backoff import Backoff
from wakeful.cli.daemon import STATE, address_of
from wakeful.web.auth import read_token

if TYPE_CHECKING:
    from wakeful.config import Settings

ANSWER = 20.0  # seconds for one answer
SILENCE = 40.0  # seconds without even a ping: the line is dead
AGAIN = Backoff(first=0.3, cap=5.0)
STRANGER = 401  # while ours is down, another folder's daemon may answer where it was
ELSEWHERE = "another daemon answers there"
LOST = {"kind": "lost"}
LIVE = {"wakeful-live": "1"}

Row = dict[str, Any]


class Rejected(Exception):
    """The daemon said no, in a sentence."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Conversation:
    """Says, follows, stops and decides; `thread` is empty until the first word of a new one."""

    def __init__(self, home: Path, settings: Settings, thread: str = "") -> None:
        self.thread = thread
        self._home, self._settings = home, settings
        self._client = httpx.AsyncClient(trust_env=False, timeout=ANSWER)

    async def __aenter__(self) -> Conversation:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def say(self, text: str) -> int:
        """Hand over a message, as often as it takes; the id makes it one message."""
        body: Row = {"text": text, "id": uuid.uuid4().hex}
        if self.thread:
            body["thread"] = self.thread
        failures = 0
        while True:
            try:
                taken = await self._post("/api/messages", body)
            except (httpx.TransportError, OSError):
                failures += 1
                await asyncio.sleep(AGAIN.delay(failures))
                continue
            self.thread = str(taken["thread"])
            return int(taken["event"])

    async def follow(self, event: int) -> AsyncIterator[Row]:
        """What happens until the event ends; `lost` says that the line broke and is tried again."""
        last, failures = "", 0
        while True:
            try:
                async for frame in self._frames(event, last):
                    failures, last = 0, frame.id or last
                    if frame.event == "end":
                        return
                    yield frame.json()
            except (httpx.TransportError, SSEError, OSError):
                if failures == 0:
                    yield LOST
            failures += 1
            await asyncio.sleep(AGAIN.delay(failures))

    async def _frames(self, event: int, last: str) -> AsyncIterator[Any]:
        url, headers = self._target(f"/api/events/{event}/stream")
        if last:
            headers["last-event-id"] = last
        patience = httpx.Timeout(ANSWER, read=SILENCE)
        async with aconnect_sse(
            self._client, "GET", url, headers=headers, timeout=patience
        ) as source:
            status = source.response.status_code
            if status == STRANGER:
                raise ConnectionError(ELSEWHERE)
            if status == 404:
                raise Rejected("the daemon does not know this event any more.", status)
            async for frame in source.aiter_sse():
                if frame.data:  # a ping has none
                    yield frame

    async def stop(self, event: int) -> bool:
        return bool((await self._post(f"/api/events/{event}/stop", {}))["stopped"])

    async def waits(self, event: int) -> list[Row]:
        """What this event waits for."""
        url, headers = self._target("/api/waits")
        answer = await self._client.get(url, headers=headers)
        return [wait for wait in self._read(answer)["waits"] if wait["event"] == event]

    async def decide(self, wait: Row, decision: Row) -> None:
        await self._post(f"/api/waits/{wait['id']}", {**decision, "digest": wait["digest"]})

    async def _post(self, path: str, body: Row) -> Row:
        url, headers = self._target(path)
        return self._read(await self._client.post(url, json=body, headers={**headers, **LIVE}))

    def _target(self, path: str) -> tuple[str, dict[str, str]]:
        """Read anew each time: after a restart the port may be another one."""
        token = read_token(self._home / STATE / "token")
        url = f"{address_of(self._home, self._settings)}{path}"
        return url, {"authorization": f"Bearer {token}"}

    def _read(self, answer: httpx.Response) -> Row:
        if answer.is_success:
            row: Row = answer.json()
            return row
        if answer.status_code == STRANGER:
            raise ConnectionError(ELSEWHERE)
        try:
            sentence = str(answer.json()["error"])
        except (ValueError, KeyError, TypeError):
            sentence = f"the daemon answered {answer.status_code}; its log says why."
        raise Rejected(sentence, answer.status_code)
