"""The log: sentences on stderr and in a bounded file, each with an action, none with a secret."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from wakeful.redact import redact

FILE_BYTES = 5_000_000  # of one log file
FILES = 4  # older ones that are kept
FRAMES = 20  # of a traceback
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
QUIET = ("apscheduler", "httpx", "httpcore", "openai", "anthropic", "uvicorn")


class Redacted(logging.Formatter):
    """Formats a record as one line (and its traceback), then takes the secrets out of all of it."""

    default_msec_format = "%s.%03d"

    def __init__(self, known: Callable[[], Iterable[str]]) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
        self._known = known

    def format(self, record: logging.LogRecord) -> str:
        extra = {k: v for k, v in vars(record).items() if k not in _STANDARD}
        line = super().format(record)
        head, newline, rest = line.partition("\n")
        told = " ".join(f"{k}={v}" for k, v in extra.items())
        return redact(f"{head} [{told}]{newline}{rest}" if told else line, self._known())

    def formatException(self, ei: Any) -> str:
        """The last frames are enough, and a log that is bounded wants short tracebacks."""
        return "".join(traceback.format_exception(*ei, limit=-FRAMES)).rstrip()


class _PrivateFile(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        """For the daemon's user alone, each new one too."""
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return TextIOWrapper(open(handle, "ab"), encoding=self.encoding, errors=self.errors)


def start_logging(
    folder: Path, *, known: Callable[[], Iterable[str]] = tuple
) -> Callable[[], None]:
    """Log to stderr and to `logs/wakeful.log` below the folder; returns what takes it back."""
    logs = folder / "logs"
    logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = _PrivateFile(
        logs / "wakeful.log", maxBytes=FILE_BYTES, backupCount=FILES, encoding="utf-8", delay=True
    )
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr), file]
    root = logging.getLogger()
    before = root.level
    for handler in handlers:
        handler.setFormatter(Redacted(known))
        root.addHandler(handler)
    root.setLevel(logging.INFO)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)

    def stop() -> None:
        root.setLevel(before)
        for handler in handlers:
            root.removeHandler(handler)
            if handler is file:
                handler.close()

    return stop
