"""What the exit code of a command means, and the sentence that goes with it."""

from __future__ import annotations

import errno
import os
import sys

import click

from wakeful import errors

OK = 0
FAILED = 1
USAGE = 2
FOLDER = 3
UNKNOWN = 4
UNAVAILABLE = 5
CONFLICT = 6
STORE = 7
INTERRUPTED = 130

MEANINGS = {
    OK: "it worked",
    FAILED: "it did not work; the sentence says what to do",
    USAGE: "the command line itself is wrong",
    FOLDER: "there is no agent folder here, or it has faults",
    UNKNOWN: "there is no such event, thread, wait or schedule",
    UNAVAILABLE: "the daemon is not running where it is needed, or runs where it must not",
    CONFLICT: "the question is closed, has changed, or is not yours to answer",
    STORE: "the store cannot be read or written",
    INTERRUPTED: "you stopped it",
}

_CODES: tuple[tuple[type[errors.WakefulError], int], ...] = (
    (errors.FolderFaulty, FOLDER),
    (errors.SecretMissing, FOLDER),
    (errors.Unknown, UNKNOWN),
    (errors.StoreBusy, UNAVAILABLE),
    (errors.PortTaken, UNAVAILABLE),
    (errors.AlreadyDecided, CONFLICT),
    (errors.Stale, CONFLICT),
    (errors.NotAllowed, CONFLICT),
    (errors.StoreBroken, STORE),
)


class Fail(click.ClickException):
    """Ends a command with one sentence and a code."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc]  # click reads it from the instance


def code_of(error: BaseException) -> int:
    """The exit code for an error of ours; anything else is plainly a failure."""
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return FAILED


def as_fail(error: Exception) -> Fail:
    """Any error as one sentence. `WAKEFUL_DEBUG=1` lets the traceback through instead."""
    if os.environ.get("WAKEFUL_DEBUG"):
        raise error
    error = _disk_trouble(error)
    if isinstance(error, errors.WakefulError | OSError):
        return Fail(_sentence(error), code_of(error))
    name = type(error).__name__
    return Fail(
        f"something went wrong that should not ({name}: {error}); "
        "set WAKEFUL_DEBUG=1 and run it again to see where."
    )


def _disk_trouble(error: Exception) -> Exception:
    """What a full or read-only disk says, whichever file it was said about."""
    code = error.errno if isinstance(error, OSError) else None
    if code in (errno.ENOSPC, errno.EDQUOT):
        return errors.StoreFull()
    if code == errno.EROFS:
        return errors.StoreReadOnly()
    return error


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}."
    return str(error)


def stopped() -> None:
    """End as a command does that was interrupted."""
    sys.exit(INTERRUPTED)
