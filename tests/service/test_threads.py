"""Calls that never come back keep nobody else's thread, and not the process."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from wakeful.service.loop import Loop

MANY = 100


async def _with_many_that_hang() -> None:
    gate, begun = threading.Event(), threading.Barrier(MANY + 1)

    def hang() -> None:
        begun.wait()
        gate.wait()

    stuck = [asyncio.create_task(asyncio.to_thread(hang)) for _ in range(MANY)]
    try:
        async with asyncio.timeout(10):
            await asyncio.to_thread(begun.wait)
            assert await asyncio.to_thread(lambda: 1) == 1
            for task in stuck:
                task.cancel()
            ended = await asyncio.gather(*stuck, return_exceptions=True)
            assert all(isinstance(one, asyncio.CancelledError) for one in ended)
            await asyncio.get_running_loop().shutdown_default_executor()
    finally:
        gate.set()


def test_calls_that_hang_hold_up_nobody_and_nothing_waits_for_them() -> None:
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(_with_many_that_hang())


def test_results_errors_and_context_go_through() -> None:
    word: ContextVar[str] = ContextVar("word")

    def fail() -> None:
        raise ValueError("no")

    async def look() -> str:
        word.set("mine")
        with pytest.raises(ValueError, match="no"):
            await asyncio.to_thread(fail)
        return await asyncio.to_thread(word.get)

    with asyncio.Runner(loop_factory=Loop) as runner:
        assert runner.run(look()) == "mine"
