"""The HTTP face of the daemon: API, page, and what channels mount. The service does this:

    auth = Auth.load(folder / ".wakeful" / "token", clock=clock)
    mounts = Mounts()        # Host.mount -> mounts.mount(path, asgi, public=..., owner=plug)
    probes = Probes(ready=...) # what /ready and /health answer
    async with serve(build_app(host, auth=auth, mounts=mounts, probes=probes), bind) as server:
        print(server.url, auth.new_code())  # typed at <url>/login; single use, 60 s
        ...
        server.close_port()  # SIGTERM: the port first; leaving the block waits for the rest

With a public listener: `build_app(..., serve_public=False)` for the operator's and
`serve(build_public_app(mounts), public_bind)` for the other one.
"""

from __future__ import annotations

from wakeful.web.app import build_app, build_public_app
from wakeful.web.auth import Auth, read_token
from wakeful.web.mounts import Mounts
from wakeful.web.operations import Operations
from wakeful.web.probes import Probes
from wakeful.web.server import Server, serve

__all__ = [
    "Auth",
    "Mounts",
    "Operations",
    "Probes",
    "Server",
    "build_app",
    "build_public_app",
    "read_token",
    "serve",
]
