"""The small page at `/`: chat, what waits, what ran; static/console.js brings it to life."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import jinja2
import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from wakeful.host import Host
from wakeful.web.answers import json_answer
from wakeful.web.auth import COOKIE_SECONDS, Auth
from wakeful.web.probes import Probes
from wakeful.web.shapes import message_json, wait_json

HERE = Path(__file__).parent
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {"content-security-policy": CSP, "cache-control": "no-store"}
THREADS, MESSAGES, RUNS = 50, 200, 20
WORDS = {"parked": "waits", "dead": "failed"}  # states of the store in words of the page


class Page:
    """The page, the way in, and the two lights."""

    def __init__(self, host: Host, auth: Auth, probes: Probes) -> None:
        self._view, self._auth, self._probes = host.view, auth, probes
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["pretty"] = _pretty
        self._templates.globals["words"] = WORDS

    def routes(self) -> list[Route | Mount]:
        return [
            Route("/", self.index),
            Route("/login", self.login_form),
            Route("/login", self.login, methods=["POST"]),
            Route("/logout", self.logout, methods=["POST"]),
            Route("/health", self.health),
            Route("/ready", self.ready),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ]

    async def index(self, request: Request) -> Response:
        threads = await self._view.threads(limit=THREADS)
        key = request.query_params.get("thread") or ""
        thread = await self._view.thread(key) if key else None
        messages = await self._view.messages(key, limit=MESSAGES) if thread else []
        return self._render(
            "console.html",
            key=key,
            threads=threads,
            event=_under_way(thread),
            messages=[message_json(one) for one in messages],
            waits=[wait_json(one) for one in await self._view.waits()],
            runs=await self._view.runs(limit=RUNS),
            skills=(await self._view.status()).get("quarantined_skills", []),
        )

    async def login_form(self, request: Request) -> Response:
        return self._render("login.html", wrong=False)

    async def login(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        cookie = self._auth.redeem(form.get("code", [""])[0])
        if cookie is None:
            return self._render("login.html", status=403, wrong=True)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            self._auth.cookie_name,
            cookie,
            max_age=COOKIE_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    async def logout(self, request: Request) -> Response:
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(self._auth.cookie_name, httponly=True, samesite="strict")
        return answer

    async def health(self, request: Request) -> Response:
        ok = await self._probes.health()
        return json_answer({"ok": ok}, 200 if ok else 503)

    async def ready(self, request: Request) -> Response:
        ok = self._probes.ready()
        return json_answer({"ok": ok}, 200 if ok else 503)

    def _render(self, name: str, *, status: int = 200, **values: object) -> Response:
        return HTMLResponse(self._templates.get_template(name).render(values), status, HEADERS)


def _under_way(thread: Mapping[str, Any] | None) -> Any:
    """The event that runs, or will at once; the page follows it."""
    if thread is None or thread.get("state") not in ("ready", "running"):
        return ""
    return thread.get("event") or ""


def _pretty(value: object) -> str:
    return orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2).decode()
