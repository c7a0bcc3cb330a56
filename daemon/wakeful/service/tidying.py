"""The night's work: what `[retention]` lets go, and conversations that can be made smaller."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from wakeful.store import Store

LEFT_ALONE = 3_600_000  # ms; a conversation that is under way stays as it is
ROWS = 8  # checkpoints; a busy conversation is compacted by its own runs
AT_ONCE = 1_000  # conversations in one night, those with the most first

Compact = Callable[[str], Awaitable[bool]]


async def compact_idle(store: Store, compact: Compact, now: int) -> int:
    """Compact conversations that went to sleep before their own runs did it; says how many."""
    done = 0
    found = await store.view.bulky(rows=ROWS, before=now - LEFT_ALONE, limit=AT_ONCE)
    for thread_key, graph in found:
        fence = await store.lend(thread_key)
        if fence is None:  # somebody wrote in it
            continue
        try:
            done += await compact(graph)
        finally:
            await store.take_back(thread_key, fence)
    return done
