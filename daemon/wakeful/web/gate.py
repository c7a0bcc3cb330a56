"""Who may pass: the Host and Origin of a request, and the proof that it is the operator's."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from wakeful.config import is_loopback
from wakeful.web.auth import Auth

OPEN = frozenset({"/health", "/ready", "/login"})  # and /static/*: no token, and no secret behind
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Gate:
    """Stands before the API and the page."""

    def __init__(self, app: ASGIApp, auth: Auth) -> None:
        self._app, self._auth = app, auth

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        check_host(headers)
        check_origin(headers, scope["scheme"])
        if not self._open(scope["path"]) and not self._proved(scope, headers):
            if scope["path"] == "/" and scope["method"] == "GET":
                await RedirectResponse("/login", 303)(scope, receive, send)
                return
            raise HTTPException(
                401,
                "This needs the token in .wakeful/token as `Authorization: Bearer ...`, "
                "or a browser that has signed in at /login.",
                {"www-authenticate": "Bearer"},
            )
        await self._app(scope, receive, send)

    def _open(self, path: str) -> bool:
        return path in OPEN or path.startswith("/static/")

    def _proved(self, scope: Scope, headers: Headers) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if given:
            return self._auth.holds(given)
        if not self._auth.knows(read_cookie(headers, self._auth.cookie_name)):
            return False
        if scope["method"] not in SAFE and "origin" not in headers:
            raise HTTPException(403, "A browser that changes something must say its Origin.")
        return True


def check_host(headers: Headers) -> None:
    """Refuse a name that a stranger's DNS may have pointed at us."""
    host = headers.getlist("host")
    if len(host) != 1 or not known_host(host[0]):
        raise HTTPException(
            421, "This listener answers to localhost and its addresses only, not to this Host."
        )


def known_host(host: str) -> bool:
    """Whether a Host header names this machine to itself, as the operator's listener is bound."""
    name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
    return is_loopback(name.lower())


def check_origin(headers: Headers, scheme: str) -> None:
    """Refuse what another site's page has sent through the operator's browser."""
    origins = headers.getlist("origin")
    if any(one != f"{scheme}://{headers['host']}" for one in origins):
        raise HTTPException(403, "A page of another origin may not talk to this daemon.")


def read_cookie(headers: Headers, name: str) -> str:
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[name].value if name in jar else ""
