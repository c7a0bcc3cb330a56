"""The outermost layer: bounded bodies, errors as sentences, headers that every answer carries."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wakeful.web.answers import to_answer
from wakeful.web.limits import BODY_SECONDS, Body

SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # `no-referrer` would turn the Origin of a form into null
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]


class Edge:
    """Wraps an application so that whatever happens inside ends in a proper answer."""

    def __init__(self, app: ASGIApp, *, limit: int, seconds: float = BODY_SECONDS) -> None:
        self._app, self._limit, self._seconds = app, limit, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await _decline(scope, receive, send)
        body = Body(receive, limit=self._limit, seconds=self._seconds)
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message["headers"], *SECURITY_HEADERS]}
            await send(message)

        try:
            body.announce(Headers(scope=scope).get("content-length", ""))
            await self._app(scope, body.receive, watched)
        except ClientDisconnect:
            return
        except Exception as error:
            if started:
                raise
            await _refuse(scope, body, watched, error)


async def _refuse(scope: Scope, body: Body, send: Send, error: Exception) -> None:
    response = to_answer(error, method=scope["method"], path=scope["path"])
    start = {"type": "http.response.start", "status": response.status_code}
    await send({**start, "headers": response.raw_headers})
    content = b"" if scope["method"] == "HEAD" else bytes(response.body)
    await send({"type": "http.response.body", "body": content, "more_body": True})
    if response.status_code != 408:
        await body.linger()
    await send({"type": "http.response.body", "body": b""})


async def _decline(scope: Scope, receive: Receive, send: Send) -> None:
    """There are no WebSockets here, and the lifespan is the service's."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
