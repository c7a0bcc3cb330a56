from __future__ import annotations

import httpx
import pytest

from tests.web.conftest import BASE, Site
from wakeful.web import Probes
from wakeful.web.api import Api
from wakeful.web.gate import known_host
from wakeful.web.page import Page


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:8888"])
async def test_X1_a_foreign_origin_is_refused(client: httpx.AsyncClient, origin: str) -> None:
    answer = await client.post("/api/messages", json={"text": "hi"}, headers={"origin": origin})
    assert answer.status_code == 403
    assert (await client.get("/", headers={"origin": origin})).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:7777", "127.0.0.1.evil.example", "10.0.0.1", ""]
)
async def test_X1_a_rebound_host_is_refused(client: httpx.AsyncClient, host: str) -> None:
    answer = await client.get("/api/status", headers={"host": host})
    assert answer.status_code == 421
    assert "Host" in answer.json()["error"]


async def test_X1_a_url_parameter_changes_nothing(stranger: httpx.AsyncClient) -> None:
    for query in ("?token=" + "t" * 43, "?code=x", "?url=ws://evil.example", "?gateway=evil"):
        assert (await stranger.get("/api/status" + query)).status_code == 401
        answer = await stranger.get("/" + query)
        assert answer.status_code == 303 and answer.headers["location"] == "/login"


def test_known_hosts() -> None:
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:9", "127.8.8.8", "[::1]:7777", "[::1]"):
        assert known_host(host)
    for host in ("192.168.1.4:7777", "[2001:db8::1]:1", "daemon.example", "localhost.example", ""):
        assert not known_host(host)


async def test_W7_without_the_token_nothing_opens(site: Site) -> None:
    for token in ("", "T" * 43, "t" * 42):
        async with site.client(token=None) as client:
            answer = await client.get("/api/threads", headers={"authorization": f"Bearer {token}"})
            assert answer.status_code == 401
            assert "token" in answer.json()["error"]


async def test_W7_a_duplicated_header_opens_nothing(site: Site) -> None:
    good = ("authorization", "Bearer " + "t" * 43)
    async with site.client(token=None) as client:
        answer = await client.get("/api/threads", headers=[good, good])
    assert answer.status_code == 401


async def test_X15_what_is_open_without_a_token(site: Site, stranger: httpx.AsyncClient) -> None:
    own = [*Api(site.host, site.auth).routes(), *Page(site.host, site.auth, Probes()).routes()]
    opened = set()
    for path in (route.path for route in own):
        for method in ("GET", "POST"):
            answer = await stranger.request(method, path.format(event=1, id="x", name="x"))
            if answer.status_code not in (401, 405, 303):
                opened.add(f"{method} {path}")
    assert opened == {"GET /health", "GET /ready", "GET /login", "POST /login"}


async def sign_in(site: Site, client: httpx.AsyncClient) -> None:
    answer = await client.post(
        "/login", data={"code": site.auth.new_code()}, headers={"origin": BASE}
    )
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie


async def test_a_code_becomes_a_cookie(site: Site, stranger: httpx.AsyncClient) -> None:
    assert (await stranger.get("/")).status_code == 303
    await sign_in(site, stranger)
    assert (await stranger.get("/")).status_code == 200
    assert (await stranger.get("/api/threads")).status_code == 200


async def test_a_cookie_alone_changes_nothing(site: Site, stranger: httpx.AsyncClient) -> None:
    await sign_in(site, stranger)
    body = {"text": "hi"}
    assert (await stranger.post("/api/messages", json=body)).status_code == 403
    answer = await stranger.post("/api/messages", json=body, headers={"origin": BASE})
    assert answer.status_code == 202


async def test_a_wrong_code_is_told_so(site: Site, stranger: httpx.AsyncClient) -> None:
    answer = await stranger.post("/login", data={"code": "nope"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers and "wrong" in answer.text


async def test_signing_out_takes_the_cookie_away(site: Site, stranger: httpx.AsyncClient) -> None:
    await sign_in(site, stranger)
    await stranger.post("/logout", headers={"origin": BASE})
    assert (await stranger.get("/api/threads")).status_code == 401


async def test_odd_cookies_are_no_cookies(stranger: httpx.AsyncClient) -> None:
    for cookie in ("\x01=;;", "wakeful=" + "x" * 5000, 'a="\\', "=", "wakeful-é=1"):
        headers = [(b"cookie", cookie.encode("latin-1"))]
        assert (await stranger.get("/api/threads", headers=headers)).status_code == 401
