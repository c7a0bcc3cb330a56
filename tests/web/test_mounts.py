from __future__ import annotations

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tests.web.conftest import BASE, Site
from wakeful.errors import Refused
from wakeful.web import Mounts, Probes, build_public_app


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    text = f"{scope['root_path']} {scope['path']}"
    await PlainTextResponse(text)(scope, receive, send)


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("secret detail")


def test_the_longest_path_wins() -> None:
    mounts = Mounts()
    mounts.mount("/hooks", echo, public=True)
    mounts.mount("/hooks/ci", broken, public=True)
    found = mounts.find("/hooks/ci/x", public=True)
    assert found and found.app is broken
    other = mounts.find("/hooks/cix", public=True)
    assert other and other.app is echo
    assert mounts.find("/hooks/ci", public=False) is None


def test_a_path_belongs_to_one_plug() -> None:
    mounts = Mounts()
    mounts.mount("/hooks/ci", echo, public=True, owner="ci")
    mounts.mount("/hooks/ci", broken, public=True, owner="ci")
    with pytest.raises(Refused, match="taken by ci"):
        mounts.mount("/hooks/ci/", echo, public=True, owner="other")
    for path in ("/", "/api", "/api/x", "/static/x", "/login"):
        with pytest.raises(Refused, match="belongs to the daemon"):
            mounts.mount(path, echo)
    mounts.drop("ci")
    assert mounts.find("/hooks/ci", public=True) is None


async def test_a_public_path_needs_no_token_and_no_known_host(
    site: Site, stranger: httpx.AsyncClient
) -> None:
    site.mounts.mount("/hooks/ci", echo, public=True)
    answer = await stranger.get("/hooks/ci/a", headers={"host": "hooks.example.com"})
    assert answer.text == "/hooks/ci /hooks/ci/a"


async def test_a_path_that_is_not_public_stands_behind_the_gate(
    site: Site, client: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    site.mounts.mount("/tools/x", echo)
    assert (await stranger.get("/tools/x")).status_code == 401
    assert (await client.get("/tools/x")).status_code == 200
    assert (await client.get("/tools/x", headers={"host": "evil.example"})).status_code == 421


async def test_a_public_listener_shows_public_paths_only(site: Site) -> None:
    site.mounts.mount("/hooks/ci", echo, public=True)
    site.mounts.mount("/tools/x", echo)
    transport = httpx.ASGITransport(build_public_app(site.mounts))
    async with httpx.AsyncClient(transport=transport, base_url="http://hooks.example.com") as world:
        assert (await world.get("/hooks/ci")).status_code == 200
        for path in ("/", "/api/status", "/login", "/health", "/tools/x", "/static/console.js"):
            answer = await world.get(path)
            assert answer.status_code == 404 and set(answer.json()) == {"error"}
    async with site.client(site.build(serve_public=False)) as operator:
        assert (await operator.get("/hooks/ci")).status_code == 404


async def test_a_broken_mount_is_a_500_without_details(
    site: Site, stranger: httpx.AsyncClient
) -> None:
    site.mounts.mount("/hooks/ci", broken, public=True)
    answer = await stranger.post(f"{BASE}/hooks/ci")
    assert answer.status_code == 500 and "secret" not in answer.text


async def test_a_channel_that_is_not_open_yet_is_worth_another_try() -> None:
    """A sender gives up on a 401 or 404 for good; right after a start it must come again."""
    awake = [False]
    app = build_public_app(Mounts(), probes=Probes(ready=lambda: awake[0]))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://h.example.com") as sender:
        early = await sender.post("/hooks/ci", content=b"{}")
        awake[0] = True
        late = await sender.post("/hooks/ci", content=b"{}")
    assert (early.status_code, early.headers["retry-after"]) == (503, "2")
    assert late.status_code == 404
