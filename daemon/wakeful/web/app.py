"""Puts the two applications together: the operator's, and the one that the world may reach."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from wakeful.host import Host
from wakeful.web.api import Api
from wakeful.web.auth import Auth
from wakeful.web.edge import Edge
from wakeful.web.gate import Gate
from wakeful.web.limits import BODY_BYTES, BODY_SECONDS, MOUNT_BYTES
from wakeful.web.mounts import Mount, Mounts
from wakeful.web.operations import Operations
from wakeful.web.page import Page
from wakeful.web.probes import Probes

CHANNELS_ONLY = ("/hooks/", "/slack/", "/oauth/")  # the paths that the world is told


class App:
    """Sends a request to a mount or to the daemon's own pages. `closing` ends the streams."""

    def __init__(self, own: ASGIApp, mounted: Mounted) -> None:
        self.closing = asyncio.Event()
        self._own, self._mounted = own, mounted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        mount = self._mounted.find(scope) if scope["type"] == "http" else None
        if mount is not None:
            await self._mounted.serve(mount, scope, receive, send)
        elif self._mounted.expects(scope["path"]):
            await self._mounted.missing(scope, receive, send)
        else:
            await self._own(scope, receive, send)


class Mounted:
    """What channels have mounted: public paths prove themselves, others stand behind the gate."""

    def __init__(self, mounts: Mounts, auth: Auth | None, probes: Probes, *, public: bool) -> None:
        self._mounts, self._auth, self._public = mounts, auth, public
        self.missing = Edge(_Missing(probes), limit=BODY_BYTES)

    def expects(self, path: str) -> bool:
        """Whether only a channel can serve this path."""
        return self._public and path.startswith(CHANNELS_ONLY)

    def find(self, scope: Scope) -> Mount | None:
        path = scope["path"]
        found = self._mounts.find(path, public=True) if self._public else None
        return found or (self._mounts.find(path, public=False) if self._auth else None)

    async def serve(self, mount: Mount, scope: Scope, receive: Receive, send: Send) -> None:
        below = {**scope, "root_path": scope.get("root_path", "") + mount.path}
        app = mount.app
        if not mount.public and self._auth:
            app = Gate(app, self._auth)
        await Edge(app, limit=MOUNT_BYTES)(below, receive, send)


def build_app(
    host: Host,
    *,
    auth: Auth,
    mounts: Mounts,
    probes: Probes | None = None,
    operations: Operations | None = None,
    serve_public: bool = True,
    body_seconds: float = BODY_SECONDS,
) -> App:
    """The operator's listener: page and API, and the public paths unless they have their own.

    `host` is the one named "console": what the API accepts is that channel's.
    """
    api = Api(host, auth, operations)
    page = Page(host, auth, probes or Probes())
    gate = Gate(Router([*api.routes(), *page.routes()]), auth)
    own = Edge(gate, limit=BODY_BYTES, seconds=body_seconds)
    mounted = Mounted(mounts, auth, probes or Probes(), public=serve_public)
    return App(own, mounted)


def build_public_app(mounts: Mounts, *, probes: Probes | None = None) -> App:
    """The listener that the world may reach: public mounts and nothing else."""
    mounted = Mounted(mounts, None, probes or Probes(), public=True)
    return App(Edge(_nothing, limit=BODY_BYTES), mounted)


class _Missing:
    """Stands in for a channel: one that is not open yet is worth another try."""

    def __init__(self, probes: Probes) -> None:
        self._probes = probes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._probes.ready():
            raise HTTPException(404, "There is nothing at this path.")
        raise HTTPException(503, "This channel is not open yet; try again.", {"retry-after": "2"})


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404, "There is nothing at this path.")
