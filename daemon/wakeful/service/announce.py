"""Where the daemon listens, written down for the commands that look for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ADDRESS = "address"


@contextmanager
def announced(private: Path, url: str) -> Iterator[None]:
    """Keep `.wakeful/address` while the port is open; a port of 0 is known only now."""
    file = private / ADDRESS
    file.write_text(f"{url}\n")
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
