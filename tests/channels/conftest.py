"""A hook, and a sender that signs as GitHub does."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.channels.loading import channel
from tests.web.conftest import Site, open_site
from wakeful.web import build_public_app

webhook = channel("webhook")
SECRET = "hook-secret"
GITHUB = {"scheme": "github", "secret": SECRET}


class Sender:
    """A sender that signs as GitHub does, over the real ASGI stack of the public listener."""

    def __init__(self, site: Site) -> None:
        self.site, self.mounts, self.events = site, site.mounts, site.events
        self.host = site.core.host("ci")
        transport = httpx.ASGITransport(build_public_app(site.mounts), raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://hooks.example.com")

    async def send(
        self, payload: Any, *, raw: bytes | None = None, **headers: str
    ) -> httpx.Response:
        body = json.dumps(payload).encode() if raw is None else raw
        digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        signed = {"x-hub-signature-256": f"sha256={digest}", "content-type": "application/json"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post("/hooks/ci", content=body, headers={**signed, **named})


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Any]:
    """Opens a hook `ci` with some settings."""
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(open_site(tmp_path))

        async def open_hook(**settings: Any) -> Sender:
            sender = Sender(site)
            given = webhook.Settings(**{"verify": GITHUB, **settings})
            await stack.enter_async_context(webhook.open(given, sender.host))
            return sender

        yield open_hook
