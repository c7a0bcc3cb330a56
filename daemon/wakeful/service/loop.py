"""An event loop with two classes: what people wait for goes first, runs share what is left.

A run of the agent is long stretches of computing between two awaits. With eight of them ready, a
request that needs five turns of the loop would wait for forty stretches. Here every turn serves all
that is ready of the first class. Runs are served, for SHARE seconds or one stretch, in turns that
nothing of the first class has followed up, and in one of PATIENCE turns in any case.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from time import perf_counter
from typing import Any, TypeVarTuple

from wakeful.service.threads import Threads

Ts = TypeVarTuple("Ts")

SHARE = 0.001  # seconds
PATIENCE = 8  # turns
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
        self.set_default_executor(Threads())
        self._followed = False  # something of the first class is ready for the next turn
        self._passed = 0  # turns, in a row, in which runs were not served

    def call_soon(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        behind = BACKGROUND.get() if context is None else context.get(BACKGROUND, False)
        if not behind:
            self._followed = True
            return super().call_soon(callback, *args, context=context)
        if not self._later:
            super().call_soon(self._serve_runs, context=_FOREGROUND)
        handle = _Later(callback, args, self, context or copy_context())
        self._later.append(handle)
        return handle

    def _serve_runs(self) -> None:
        if self._followed and self._passed < PATIENCE:
            self._passed += 1
        else:
            self._passed = 0
            self._serve_some()
        self._followed = False
        if self._later:
            super().call_soon(self._serve_runs, context=_FOREGROUND)

    def _serve_some(self) -> None:
        end = perf_counter() + SHARE
        while self._later:
            handle = self._later.popleft()
            if not handle.cancelled():
                self._serve(handle)
            if perf_counter() >= end:
                break

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
