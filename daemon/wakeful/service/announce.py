"""Where the daemon listens, written down for the commands that look for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wakeful import files

ADDRESS = "address"


@contextmanager
def announced(private: Path, url: str) -> Iterator[None]:
    """Keep `.wakeful/address` while the port is open; a port of 0 is known only now."""
    file = private / ADDRESS
    files.put(file, f"{url}\n".encode())  # a command may read it at this very instant
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
