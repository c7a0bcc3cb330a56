"""The lock that keeps a second daemon out: a file of its own, held as long as its process lives.

The kernel lets go of it when the process dies, however it dies: no age, no clean-up, no stale lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

from wakeful.errors import StoreBusy, StoreReadOnly


def lock_path(database: Path) -> Path:
    return database.with_name(database.name + ".lock")


@contextlib.contextmanager
def hold_lock(database: Path) -> Iterator[None]:
    """Hold the store of this file; raises StoreBusy with the other's process id."""
    path = lock_path(database)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreReadOnly(
            f"{path.name} cannot be made in {path.parent} ({error.strerror}); make that folder "
            "writable for the user of this daemon"
        ) from error
    try:
        _take(descriptor, database)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid()}).encode(), 0)
        yield
        os.truncate(descriptor, 0)
    finally:
        os.close(descriptor)


def holder(database: Path) -> int | None:
    """The process id of the daemon that holds this store now, None when nobody does."""
    try:
        descriptor = os.open(lock_path(database), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid(descriptor) or -1
    finally:
        os.close(descriptor)
    return None


def _take(descriptor: int, database: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = _pid(descriptor)
        raise StoreBusy(
            f"another daemon{f' (process {pid})' if pid else ''} holds {database}; stop it first, "
            "or use another folder"
        ) from None


def _pid(descriptor: int) -> int | None:
    try:
        pid = json.loads(os.pread(descriptor, 200, 0))["pid"]
    except (ValueError, KeyError, TypeError):
        return None  # its holder is just writing it
    return pid if isinstance(pid, int) else None
