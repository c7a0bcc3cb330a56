"""Reading beside the writer: a connection that sees what is committed, and blocks nobody."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from wakeful.errors import StoreBroken
from wakeful.store.connect import connect, dialect_of, explain, path_of
from wakeful.store.migrate import check_version, migrations, statements
from wakeful.store.query import Dialect, Driver, Session

T = TypeVar("T")


class Reading:
    """Runs read operations on a thread of their own; a store that was never made reads as empty."""

    def __init__(self, url: str, *, verify: bool = False) -> None:
        self.url = url
        self.dialect: Dialect = dialect_of(url)
        self._verify = verify
        self._line: Driver | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wakeful-read")

    async def __aenter__(self) -> Reading:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    async def run(self, operation: Callable[[Session], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, operation)

    def _run(self, operation: Callable[[Session], T]) -> T:
        try:
            line = self._open()
            line.execute("BEGIN")  # one snapshot for all that it reads
            try:
                return operation(Session(line, self.dialect, time.time_ns() // 1_000_000))
            finally:
                line.rollback()
        except Exception as error:
            raise explain(error, self.url) or error from error

    def _open(self) -> Driver:
        line = self._line
        if line is None or getattr(line, "closed", False):
            line = self._line = self._connect()
        return line

    def _connect(self) -> Driver:
        if self.dialect == "sqlite" and not path_of(self.url).exists():
            return _empty()
        line = connect(self.url, read_only=True)
        if self._verify:
            try:
                check_version(line, self.dialect)
            except StoreBroken:
                line.close()
                raise
        return line

    def _close(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()


def _empty() -> Driver:
    """What a store that nobody has made yet looks like."""
    line: Any = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    line.row_factory = sqlite3.Row
    for one in migrations("sqlite"):
        for statement in statements(one.sql):
            line.execute(statement)
    driver: Driver = line
    return driver
