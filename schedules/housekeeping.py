"""Keeps the store small: what `[retention]` lets go is cleared every night."""

from __future__ import annotations

from wakeful.host import Host

CRON = "17 3 * * *"


async def run(host: Host) -> str | None:
    cleared = {name: count for name, count in (await host.tidy()).items() if count}
    if not cleared:
        return None
    return "Cleared: " + ", ".join(f"{name} {count}" for name, count in sorted(cleared.items()))
