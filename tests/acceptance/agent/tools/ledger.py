"""Tools with a side effect that can be counted: a line in a file that outlives the process."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from wakeful.tool import tool

PACE = 0.004  # seconds, so that a kill can fall before, inside and after the effect


def _ledger() -> Path:
    return Path(os.environ["WAKEFUL_TEST_LEDGER"])


def _write(line: str) -> None:
    descriptor = os.open(_ledger(), os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


async def _effect(line: str) -> str:
    await asyncio.sleep(PACE)
    _write(line)
    await asyncio.sleep(PACE)
    return f"did {line}"


@tool(effect="read")
async def check(entry: str) -> str:
    """Look whether an entry stands in the ledger.

    Args:
        entry: the entry as it was written, such as "charge 12 a".
    """
    lines = _ledger().read_text().splitlines() if _ledger().exists() else []
    return "present" if entry in lines else "absent"


@tool(effect="once")
async def charge(number: int, part: str) -> str:
    """Charge one part of an order.

    Args:
        number: the order's number.
        part: which part of it, one letter.
    """
    return await _effect(f"charge {number} {part}")


@tool(effect="once", approve="always")
async def refund(number: int) -> str:
    """Give the money of an order back.

    Args:
        number: the order's number.
    """
    return await _effect(f"refund {number}")


@tool(effect="repeat")
async def poison(number: int) -> str:
    """Kill the whole daemon, as a faulty native library would.

    Args:
        number: the order's number.
    """
    _write(f"poison {number}")
    os.kill(os.getpid(), 9)
    return "never"
