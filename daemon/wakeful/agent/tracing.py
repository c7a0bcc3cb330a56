"""LangSmith sees every text of every thread, so it is off until the settings say otherwise."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Any

import langsmith

VARIABLES = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
)


def set_tracing(on: bool) -> None:
    """Turn tracing on or off for this process, whatever its environment says.

    Off, its hooks around middleware run where they are: they would send two no-ops to a thread
    for each of them, at each call.
    """
    if on:
        langsmith.set_runtime_overrides()
        return
    for name in VARIABLES:
        if name in os.environ:
            os.environ[name] = "false"
    langsmith.configure(enabled=False)
    langsmith.set_runtime_overrides(aio_to_thread=_here)


async def _here(
    _default: Callable[..., Awaitable[Any]],
    context: Context,
    function: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    return context.run(function, *args, **kwargs)
