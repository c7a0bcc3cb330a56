"""Signed deliveries wake the agent: `channels/ci.toml`, `use = "webhook"`, is at `/hooks/ci`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from wakeful.host import Host

from .hook import Hook
from .settings import Settings

__all__ = ["Settings", "open"]


@asynccontextmanager
async def open(settings: Settings, host: Host) -> AsyncIterator[Hook]:
    """Mount the hook's path for as long as the channel is open."""
    hook = Hook(settings, host)
    host.mount(f"/hooks/{host.name}", hook, public=True)
    try:
        yield hook
    finally:
        hook.close()
