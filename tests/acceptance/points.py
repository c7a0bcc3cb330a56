"""Instants at which the daemon kills itself, one for each row of the crash table.

A point is `<owner>.<method>:<before|after>`: the process dies before the call of that method begins
or after it returned, which is after its commit. `#<n>` at its end says which call kills.
"""

from __future__ import annotations

import functools
import importlib
import os
import signal
from collections.abc import Callable
from typing import Any

AT = 6  # which call kills when the point does not say so; the first ones belong to the start

OWNERS = {
    "store": "wakeful.store:Store",
    "saver": "wakeful.agent.saver:Saver",
    "model": "wakeful.rehearsal.model:Rehearsal",
}

POINTS = (
    "store.accept:before",  # nothing on disk, not acknowledged
    "store.accept:after",  # on disk, not acknowledged
    "store.claim:after",  # running, no checkpoint of this event
    "saver.aput:before",
    "saver.aput:after",  # the input, a step or the last checkpoint is stored
    "saver.aput_writes:after",  # a task's writes are stored, its step is not
    "model._agenerate:before",  # inside the model's call
    "store.begin_effect:after",  # intended, not done
    "store.end_effect:before",  # done, not recorded
    "store.end_effect:after",
    "store.park:before",  # interrupted, not parked
    "store.park:after",
    "store.decide:before",
    "store.decide:after",  # decided, not acknowledged
    "store.finish:before",  # the last checkpoint is stored, the event is still open
    "store.finish:after",
    "store.sent:before",  # the destination has it, we have no receipt
    "store.sent:after",
)


def arm(point: str) -> None:
    """Make this process kill itself at a point."""
    point, _, at = point.partition("#")
    owner_name, _, rest = point.partition(".")
    method_name, _, moment = rest.partition(":")
    module, _, name = OWNERS[owner_name].partition(":")
    owner = getattr(importlib.import_module(module), name)
    original = getattr(owner, method_name)
    setattr(owner, method_name, _deadly(original, moment == "before", int(at or AT)))


def _deadly(original: Callable[..., Any], before: bool, at: int) -> Callable[..., Any]:
    calls = 0

    @functools.wraps(original)
    async def method(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls >= at:
            die()
        result = await original(*args, **kwargs)
        if calls >= at and result != []:  # an empty claim is no claim
            die()
        return result

    return method


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
