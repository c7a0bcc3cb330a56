"""The end of the process, even when something of the folder's code does not end.

A thread that a tool began, or a coroutine that swallows its cancellation, would keep a daemon that
has closed everything alive until somebody kills it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading

LINGER = 5.0  # seconds that what is left may take once the store is closed


def leave_within(seconds: float, code: int) -> None:
    """End this process with this exit code unless it has ended by itself until then."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    names = [task.get_name() for task in tasks if not task.done()]
    timer = threading.Timer(seconds, _leave, (code, names))
    timer.daemon = True
    timer.start()


def _leave(code: int, tasks: list[str]) -> None:
    """Everything is written and closed: nothing is lost that a kill would not lose."""
    main = threading.main_thread()
    threads = [
        thread.name for thread in threading.enumerate() if not thread.daemon and thread is not main
    ]
    left = ", ".join(sorted({*tasks, *threads}))
    print(f"Wakeful is closed. Cut off, since it did not end: {left}.", file=sys.stderr, flush=True)
    os._exit(code)
