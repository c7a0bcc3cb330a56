"""What the machine must give the daemon: file descriptors, and a private folder."""

from __future__ import annotations

import gc
import os
import resource
import sys
from pathlib import Path

from wakeful import files
from wakeful.errors import WakefulError

SWITCH = 0.0001  # seconds that one thread may keep the interpreter from another
NEEDED = 128  # descriptors: listeners, store, log, workspace, and a few dozen requests
WANTED = 8192


class TooFewFiles(WakefulError):
    """The limit of open files is too low for a daemon; raise it with `ulimit -n 1024`."""


def raise_file_limit() -> int:
    """Take as many file descriptors as may be had. Raises TooFewFiles when they cannot do."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    target = WANTED if hard == unlimited else min(WANTED, hard)
    if soft != unlimited and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        soft = target
    if soft != unlimited and soft < NEEDED:
        raise TooFewFiles(
            f"This process may open {soft} files, and a daemon needs {NEEDED}; raise the limit "
            "with `ulimit -n 1024`, or LimitNOFILE=1024 in its systemd unit."
        )
    return soft


def settle() -> None:
    """Let nothing stop the loop for long, now that everything is loaded.

    The garbage collector went through half a million objects of the libraries each time, for a
    tenth of a second, and a thread that computes kept the store's thread waiting at every
    statement.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH)


def files_left(limit: int) -> int | None:
    """How many more descriptors can be opened, or None where that cannot be said."""
    try:
        return limit - len(os.listdir("/proc/self/fd"))
    except OSError:
        return None


def private_folder(folder: Path) -> Path:
    """Make `.wakeful/`, readable by nobody else and ignored by git."""
    private = folder.resolve() / ".wakeful"
    private.mkdir(mode=0o700, exist_ok=True)
    private.chmod(0o700)
    ignore = private / ".gitignore"
    if not ignore.exists():
        files.put(ignore, b"*\n")
    return private
