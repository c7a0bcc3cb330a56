"""Functions that run off the loop: as many as hang, and whatever they raise."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextvars import ContextVar

import pytest

from wakeful.agent.aside import aside
from wakeful.agent.tools import as_tool


async def test_calls_that_never_come_back_keep_nobody_elses_thread() -> None:
    gate, begun = threading.Event(), threading.Barrier(101)

    def hang() -> None:
        begun.wait()
        gate.wait()

    stuck = [asyncio.create_task(aside(hang, name="hang")) for _ in range(100)]
    try:
        await asyncio.to_thread(begun.wait)
        assert await asyncio.to_thread(lambda: 1) == 1
        assert await aside(lambda: 2, name="quick") == 2
        for task in stuck:
            task.cancel()
        ended = await asyncio.wait_for(asyncio.gather(*stuck, return_exceptions=True), 5)
        assert all(isinstance(one, asyncio.CancelledError) for one in ended)
        assert all(thread.daemon for thread in threading.enumerate() if thread.name == "hang")
    finally:
        gate.set()


async def test_it_sees_the_context_of_its_caller() -> None:
    word: ContextVar[str] = ContextVar("word")
    word.set("mine")
    assert await aside(word.get, name="look") == "mine"


def nothing_left(number: int) -> int:
    """Take the next."""
    return next(iter(()), None) or next(iter([]))


def leave(number: int) -> int:
    """End the process, as a command-line tool would."""
    sys.exit(number)


async def leave_later(number: int) -> int:
    """The same, on the loop."""
    sys.exit(number)


@pytest.mark.parametrize(
    ("function", "said"),
    [(nothing_left, "StopIteration"), (leave, "sys.exit"), (leave_later, "sys.exit")],
)
async def test_whatever_a_tool_raises_is_its_own_fault_only(function: object, said: str) -> None:
    tool = as_tool("tool", function)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match=said):
        await asyncio.wait_for(tool.ainvoke({"number": 1}), 5)
