"""What people wait for goes before what runs compute."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from wakeful.service.loop import PATIENCE, SHARE, Loop, in_background

STRETCHES = 20  # of each run


def on_loop(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(main())


async def _compute(trace: list[str]) -> None:
    for _ in range(STRETCHES):
        end = time.perf_counter() + SHARE
        while time.perf_counter() < end:  # a stretch of computing, as a graph's step is
            continue
        trace.append("run")
        await asyncio.sleep(0)


def test_between_two_turns_of_a_request_only_one_stretch_of_a_run_is_served() -> None:
    trace: list[str] = []

    async def main() -> None:
        runs = [in_background(_compute(trace)) for _ in range(8)]
        await asyncio.sleep(0)
        for _ in range(5):  # the turns of the loop that a request needs
            trace.append("request")
            await asyncio.sleep(0)
        await asyncio.gather(*runs)

    on_loop(main)
    last = len(trace) - 1 - trace[::-1].index("request")
    assert trace[: last + 1].count("run") <= 6  # and not eight for each turn
    assert trace.count("run") == 8 * STRETCHES


def test_runs_go_on_beside_a_first_class_that_never_rests() -> None:
    served: list[int] = []

    async def main() -> None:
        async def run() -> None:
            served.append(1)

        task = in_background(run())
        for _ in range(PATIENCE + 2):
            await asyncio.sleep(0)
        assert served
        await task

    on_loop(main)


def test_what_a_run_spawns_is_of_its_class_and_its_order_is_kept() -> None:
    seen: list[int] = []

    async def main() -> None:
        async def child(number: int) -> None:
            seen.append(number)

        async def run() -> None:
            await asyncio.gather(*(asyncio.create_task(child(number)) for number in range(50)))

        await in_background(run())

    on_loop(main)
    assert seen == list(range(50))


def test_a_cancelled_callback_is_not_served_and_an_error_is_reported() -> None:
    reported: list[object] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(context["exception"]))

        async def run() -> None:
            loop.call_soon(reported.append, "never").cancel()
            loop.call_soon(int, "x")
            await asyncio.sleep(0)

        await in_background(run())

    on_loop(main)
    assert [type(one) for one in reported] == [ValueError]


def test_cancelling_a_run_works_as_ever() -> None:
    async def main() -> None:
        task = in_background(_forever())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def _forever() -> None:
        await asyncio.Event().wait()

    on_loop(main)


def test_context_variables_are_those_of_the_run() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
    seen: list[str] = []

    async def main() -> None:
        async def run() -> None:
            name.set("run")
            await asyncio.sleep(0)
            asyncio.get_running_loop().call_soon(lambda: seen.append(name.get()))
            await asyncio.sleep(0)

        await in_background(run())
        seen.append(name.get())

    on_loop(main)
    assert seen == ["run", "nobody"]
