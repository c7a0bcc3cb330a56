"""Threads for what blocks: one for every call, since any of them may never come back.

A pool has a few places (six on a machine of two cores). Calls of tools and channels that hang would
fill them, and then nothing that needs a thread goes on: no look at the folder, no file, no end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """What `asyncio.to_thread` uses in the daemon; its threads do not keep the process."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()  # from now on nobody but the thread settles it

        def settle() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=settle, name="wakeful-aside", daemon=True).start()
        return future
