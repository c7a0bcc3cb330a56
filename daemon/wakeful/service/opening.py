"""Open a daemon on an agent folder: the store, the port before what is slow, the agent last.

Closing goes the other way: the port, the clock, the worker (it drains), the courier (it delivers
what is due), the channels, the store.
"""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeful import config
from wakeful.config import SQLITE, Settings
from wakeful.errors import FolderFaulty, Refused
from wakeful.host import Clock
from wakeful.plugs import Folder, Snapshot
from wakeful.secrets import Secrets, open_secrets
from wakeful.service import engine
from wakeful.service.announce import announced
from wakeful.service.core import Core
from wakeful.service.machine import private_folder, raise_file_limit
from wakeful.service.operations import Commands
from wakeful.service.reload import SCAN_EVERY, keep_reloading
from wakeful.service.time import SystemClock
from wakeful.store import open_store
from wakeful.web import (
    Auth,
    Probes,
    Server,
    build_app,
    build_public_app,
    read_token,
    serve,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Service:
    """A daemon that runs."""

    core: Core
    folder: Folder
    auth: Auth
    server: Server
    public: Server | None

    @property
    def url(self) -> str:
        return self.server.url

    def new_code(self) -> str:
        """A one-time code that lets a browser in."""
        return self.auth.new_code()


@asynccontextmanager
async def open_service(
    path: Path,
    overrides: Mapping[str, Any] | None = None,
    *,
    clock: Clock | None = None,
    secrets: Secrets | None = None,
    scan_every: float = SCAN_EVERY,
    drain: float = engine.DRAIN,
) -> AsyncIterator[Service]:
    """Run the daemon of an agent folder until the block is left."""
    clock = clock or SystemClock()
    settings = config.load(path, overrides)
    limit = raise_file_limit()
    path = private_folder(path).parent
    secrets = secrets or open_secrets(path, settings.secrets)
    async with AsyncExitStack() as stack:
        core = await _open_core(stack, path, settings, secrets, clock)
        core.file_limit = limit
        parts = await stack.enter_async_context(AsyncExitStack())
        service = await _open_ports(stack, core, Folder(path, settings, overrides=overrides))
        await _open_parts(parts, service, scan_every=scan_every, drain=drain)
        yield service


async def _open_core(
    stack: AsyncExitStack, path: Path, settings: Settings, secrets: Secrets, clock: Clock
) -> Core:
    url = settings.store.url
    if url is None:
        url = f"sqlite:///{path / '.wakeful' / 'state.db'}"
    else:
        url = (await secrets.resolve(url)).get_secret_value()
    if not url.startswith(SQLITE):  # a name that stood for it passed the settings
        raise Refused(f"[store] url must begin with {SQLITE}; the daemon runs on SQLite")
    owner = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
    store = await stack.enter_async_context(open_store(url, clock=clock, owner=owner))
    recovered = await store.recover()
    if recovered:
        log.warning(
            "%d %s cut off by the last end of the daemon and will go on.",
            recovered,
            "run was" if recovered == 1 else "runs were",
            extra={"action": "recovered", "runs": recovered},
        )
    return Core(path, settings, store, secrets, clock)


async def _open_ports(stack: AsyncExitStack, core: Core, folder: Folder) -> Service:
    """The listeners answer from here on; what comes in is kept until the agent is there."""
    server = core.settings.server
    token = core.path / ".wakeful" / "token"
    auth = Auth.load(token, clock=core.clock)
    core.secrets.remember(read_token(token))
    probes = Probes(ready=core.ready, health=core.health)
    app = build_app(
        core.host("console"),
        auth=auth,
        mounts=core.mounts,
        probes=probes,
        operations=Commands(core),
        serve_public=server.public_bind is None,
    )
    public = None
    if server.public_bind is not None:
        public = await stack.enter_async_context(
            serve(build_public_app(core.mounts, probes=probes), server.public_bind)
        )
    operator = await stack.enter_async_context(serve(app, server.bind))
    stack.enter_context(announced(core.path / ".wakeful", operator.url))
    log.info("Listening at %s.", operator.url, extra={"action": "listening"})
    return Service(core, folder, auth, operator, public)


async def _open_parts(
    stack: AsyncExitStack, service: Service, *, scan_every: float, drain: float
) -> None:
    core = service.core
    snapshot = await asyncio.to_thread(service.folder.scan)
    refuse_insecure(snapshot)
    stack.push_async_callback(core.channels.close)
    await core.adopt(snapshot)
    await stack.enter_async_context(engine.delivering(core))
    agent = await engine.build(core, service.folder)
    await core.channels.settled()
    stack.callback(core.updates.close)
    await stack.enter_async_context(engine.running(core, agent, drain=drain))
    await stack.enter_async_context(engine.ticking(core, snapshot))
    task = asyncio.create_task(
        keep_reloading(service.folder, core.adopt, current=snapshot, every=scan_every),
        name="reload",
    )
    stack.push_async_callback(engine.ended, task)
    log.info("Awake: %s.", core.path.name, extra={"action": "awake"})


def refuse_insecure(snapshot: Snapshot) -> None:
    """A broken channel stops nobody else; a broken security setting stops the daemon."""
    insecure = [fault for fault in snapshot.faults if fault.security]
    if insecure:
        raise FolderFaulty(faults=insecure)
