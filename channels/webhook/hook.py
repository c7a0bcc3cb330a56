"""A hook: verify, parse, put on disk, and only then say 202."""

from __future__ import annotations

import asyncio
from typing import Any

from wakeful.errors import Refused
from wakeful.events import Claim, Event, Health, Receipt, Reply, Update
from wakeful.host import Host

from .identity import Bodies, given_id, keys, thread_key, window_of
from .prompt import KIND_HEADERS, compose
from .request import Gone, Headers, NotParsable, Receive, Send, TooLarge, answer, parse, read_body
from .settings import Settings
from .verify import Proof, verify


class Hook:
    """An ASGI application and a channel in one."""

    def __init__(self, settings: Settings, host: Host) -> None:
        self._settings, self._host, self._open = settings, host, True
        self._bodies = Bodies(window_of(settings), host.now().timestamp())

    def close(self) -> None:
        self._open = False

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if not self._open or scope["path"] != scope["root_path"]:
            return await answer(send, 404, {"error": "There is no such hook."})
        if scope["method"] != "POST":
            error = {"error": "A hook takes POST."}
            return await answer(send, 405, error, more="allow: POST")
        headers, limit = Headers(scope["headers"]), self._settings.body_limit
        try:
            body = await read_body(receive, limit, headers.one("content-length"))
        except TooLarge:
            error = {"error": f"This hook takes {limit:,} bytes at most."}
            return await answer(send, 413, error, more="connection: close")
        except Gone:
            return
        await answer(send, *await self.deliver(headers, body))

    async def deliver(self, headers: Headers, body: bytes) -> tuple[int, dict[str, Any]]:
        """Status and answer for one request; an event is on disk before it is 202."""
        now = self._host.now().timestamp()
        proof = verify(self._settings, headers, body, now)
        if proof is None:
            return 401, {"error": "The signature or token of this delivery does not verify."}
        try:
            payload = parse(body, headers.one("content-type"))
        except NotParsable as error:
            return 400, {"error": str(error)}
        accepted = await self._host.accept(await self._event(headers, body, payload, proof, now))
        known = {"event": accepted.seq, "duplicate": accepted.duplicate}
        return (200 if accepted.duplicate else 202), known

    async def _event(
        self, headers: Headers, body: bytes, payload: Any, proof: Proof, now: float
    ) -> Event:
        hook, settings = self._host.name, self._settings
        shown = headers.shown(hide=getattr(settings.verify, "header", ""))
        words = await asyncio.to_thread(compose, hook, settings, payload, shown)
        id = given_id(proof, headers, words.id)
        known = keys(hook, id, self._bodies, body, now)
        return Event(
            source=hook,
            keys=known,
            principal=f"webhook:{hook}",
            thread_key=thread_key(hook, words.thread, known),
            text=words.prompt,
            channel=settings.deliver.partition(":")[0],
            address=settings.deliver,
            kind="delivery",
            data={"kind": next((shown[name] for name in KIND_HEADERS if name in shown), "")},
            untrusted=not settings.trusted,
        )

    async def send(self, reply: Reply) -> Receipt:
        raise Refused(f"a webhook only listens; give {self._host.name}.toml a `deliver` address")

    async def find(self, reply: Reply) -> Receipt | None:
        return None

    async def progress(self, claim: Claim, update: Update) -> None:
        """Nobody watches a hook."""

    async def amend(self, receipt: Receipt, reply: Reply) -> None:
        """Nothing was delivered."""

    async def probe(self) -> Health:
        """A hook works when the daemon's listener does; its own part is the path it serves."""
        return Health(ok=self._open)
