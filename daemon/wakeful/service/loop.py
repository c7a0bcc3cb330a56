"""An event loop with two classes: what people wait for goes first, runs share what is left.

A run of the agent is long stretches of computing between two awaits. With eight of them ready, a
request that needs five turns of the loop would wait for forty stretches. Here every turn serves all
that is ready of the first class, and then runs, for SHARE seconds or one stretch.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from time import perf_counter
from typing import Any, TypeVarTuple

Ts = TypeVarTuple("Ts")

SHARE = 0.001  # seconds
BACKGROUND: ContextVar[bool] = ContextVar("background", default=False)
_FOREGROUND = Context()


class _Later(asyncio.Handle):
    """A callback that waits for its turn behind the first class."""

    def __init__(
        self,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: asyncio.AbstractEventLoop,
        context: Context,
    ) -> None:
        super().__init__(callback, args, loop, context)
        self._work = (context, callback, args)

    def serve(self) -> None:
        context, callback, args = self._work
        context.run(callback, *args)


class Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        super().__init__()
        self._later: deque[_Later] = deque()

    def call_soon(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        behind = BACKGROUND.get() if context is None else context.get(BACKGROUND, False)
        if not behind:
            return super().call_soon(callback, *args, context=context)
        if not self._later:
            super().call_soon(self._serve_runs, context=_FOREGROUND)
        handle = _Later(callback, args, self, context or copy_context())
        self._later.append(handle)
        return handle

    def _serve_runs(self) -> None:
        end = perf_counter() + SHARE
        while self._later:
            handle = self._later.popleft()
            if not handle.cancelled():
                self._serve(handle)
            if perf_counter() >= end:
                break
        if self._later:
            super().call_soon(self._serve_runs, context=_FOREGROUND)

    def _serve(self, handle: _Later) -> None:
        """One callback; what it raises goes where the loop's own callbacks' errors go."""
        try:
            handle.serve()
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = f"Exception in callback {handle!r}"
            self.call_exception_handler({"message": message, "exception": error, "handle": handle})


def in_background(
    work: Coroutine[Any, Any, None], *, name: str | None = None
) -> asyncio.Task[None]:
    """A task of the second class, with all the tasks and callbacks that it makes."""
    context = copy_context()
    context.run(BACKGROUND.set, True)
    return asyncio.create_task(work, name=name, context=context)
