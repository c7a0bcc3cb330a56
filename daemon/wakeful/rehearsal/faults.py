"""Faults that a script plays in process, raised as a provider's own errors would arrive."""

from __future__ import annotations

import asyncio

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelInvalidRequestError,
)

from wakeful.errors import RetryLater
from wakeful.rehearsal.script import Fail, Failing

ERRORS: dict[Failing, type[Exception]] = {
    "outage": ModelAPIError,
    "auth": ModelAuthenticationError,
    "bad-request": ModelInvalidRequestError,
    "hang-up": ModelConnectionError,
    "overflow": ContextOverflowError,
}


def raise_for(fail: Fail | None) -> None:
    """Raise what the script asks for; the faults that are shown in an answer are not errors."""
    if fail is None:
        return
    if fail.how == "rate-limit":
        raise RetryLater("the script says that this model is busy", fail.after)
    if fail.how in ERRORS:
        raise ERRORS[fail.how](f"the script plays this fault: {fail.how}")


async def hang_for(fail: Fail | None) -> None:
    """Wait without an end, when the script asks for that."""
    if fail is not None and fail.how == "hang":
        await asyncio.Event().wait()
