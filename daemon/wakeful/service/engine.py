"""The engine: agent, worker, courier and clock, opened once the port is bound."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from wakeful.clock import Timekeeper
from wakeful.plugs import Folder, Snapshot
from wakeful.service.core import Core, worker_limits
from wakeful.service.loop import in_background
from wakeful.service.progress import Progress
from wakeful.worker import Agent, Worker

log = logging.getLogger(__name__)

DRAIN = 25.0  # seconds that running steps may take at SIGTERM
LAST_POST = 5.0  # seconds for replies that are due when everything else has ended


async def build(core: Core, folder: Folder) -> Agent:
    """Import the agent's libraries in a thread, so that the port answers meanwhile; then build."""
    room = await asyncio.to_thread(importlib.import_module, "wakeful.agent")
    made = await room.build_agent(
        core.settings,
        folder,
        core.store,
        core.clock,
        core.host("agent"),
        secrets=core.secrets,
    )
    agent: Agent = made
    core.compact = made.compact
    return agent


@asynccontextmanager
async def running(core: Core, agent: Agent, *, drain: float = DRAIN) -> AsyncIterator[Worker]:
    """The worker at work; leaving lets running steps end and hands the rest back."""
    progress = Progress(core.channels, core.updates.watch)
    worker = Worker(
        core.store,
        agent,
        core.clock,
        limits=worker_limits(core.settings),
        watch=progress.watch,
        settle=progress.settle,
        publish=core.updates.publish,
        spawn=in_background,
        redact=core.secrets.redact,
        hide=core.secrets.hide,
    )
    task = asyncio.create_task(worker.run(), name="worker")
    core.worker = worker
    try:
        yield worker
    finally:
        await worker.drain(drain)
        await ended(task)
        core.worker = None


@asynccontextmanager
async def delivering(core: Core, *, last: float = LAST_POST) -> AsyncIterator[None]:
    """The courier at work; leaving delivers what is due now."""
    task = asyncio.create_task(core.courier.run(), name="courier")
    try:
        yield
    finally:
        await core.courier.drain(last)
        await ended(task)


@asynccontextmanager
async def ticking(core: Core, snapshot: Snapshot) -> AsyncIterator[Timekeeper]:
    """The clock at work: what became due while nobody was awake first."""
    keeper = Timekeeper(
        core.store,
        core.clock,
        core.host,
        alerts=tuple(core.settings.alerts.route),
        redact=core.secrets.redact,
    )
    await core.keep_time(keeper, snapshot)
    await keeper.recover()
    async with keeper:
        core.timekeeper = keeper
        try:
            yield keeper
        finally:
            core.timekeeper = None


async def ended(task: asyncio.Task[None]) -> None:
    """Wait for a part that was told to end, and say so if it ended by itself."""
    task.cancel()
    for result in await asyncio.gather(task, return_exceptions=True):
        if isinstance(result, Exception):
            log.error("%s ended: %s", task.get_name(), result, extra={"action": "part_ended"})
