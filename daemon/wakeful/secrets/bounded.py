"""Call something that may block for ever, in a thread of its own, with a time-out.

A pool would not do: a thread that hangs in D-Bus would keep its place, and the process from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

TIMEOUT = 5.0  # seconds


def start(call: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # from now on nobody but the thread settles it
    thread = threading.Thread(target=_run, args=(call, future), name="wakeful-keyring", daemon=True)
    thread.start()
    return future


def _run(call: Callable[[], T], future: Future[T]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)
