"""A function of the folder in a thread of its own, from which it may never come back.

A pool would not do: calls that hang keep their places, until nothing that needs a thread goes on,
and they keep the process from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


async def aside(call: Callable[[], T], *, name: str) -> T:
    """Run it off the loop. Whoever is cancelled meanwhile goes on; the thread is left to itself."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # from now on nobody but the thread settles it
    context = copy_context()
    thread = threading.Thread(
        target=lambda: context.run(_settle, call, future), name=name, daemon=True
    )
    thread.start()
    return await asyncio.wrap_future(future)


def _settle(call: Callable[[], T], future: Future[T]) -> None:
    try:
        future.set_result(call())
    except StopIteration as error:  # no future can hold one, and its waiter would wait for ever
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    except BaseException as error:
        future.set_exception(error)
