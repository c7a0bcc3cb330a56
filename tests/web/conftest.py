from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx
import pytest

from tests.service.fakes import HandClock
from tests.web.stub import StubHost
from wakeful.web import Auth, Mounts, build_app
from wakeful.web.app import App

TOKEN = "t" * 43
BASE = "http://127.0.0.1:7777"


@dataclass
class Site:
    """The operator's application and what it stands on."""

    host: StubHost = field(default_factory=StubHost)
    clock: HandClock = field(default_factory=HandClock)
    mounts: Mounts = field(default_factory=Mounts)

    def __post_init__(self) -> None:
        self.auth = Auth(TOKEN, clock=self.clock)
        self.app = self.build()

    def build(self, **options: object) -> App:
        return build_app(self.host, auth=self.auth, mounts=self.mounts, **options)  # type: ignore[arg-type]

    def client(self, app: App | None = None, *, token: str | None = TOKEN) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        transport = httpx.ASGITransport(app or self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
async def client(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with site.client() as client:
        yield client


@pytest.fixture
async def stranger(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with site.client(token=None) as client:
        yield client
