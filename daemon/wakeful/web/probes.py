"""What `/health` and `/ready` answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


def _yes() -> bool:
    return True


async def _alive() -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """`ready`: work is taken and run. `health`: a probe that goes round through the store, now."""

    ready: Callable[[], bool] = _yes
    health: Callable[[], Awaitable[bool]] = _alive
