"""ONE database thread with group commit: what is queued while one transaction runs shares the next.

An operation is a plain function of a `Session`. It may run twice (a batch that fails is run again,
one by one), so it depends on nothing but the session and what it closed over.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from wakeful.errors import StoreBroken, WakefulError
from wakeful.host import Clock
from wakeful.store.connect import Sync, connect, dialect_of, explain, path_of
from wakeful.store.query import Dialect, Driver, Session
from wakeful.store.watch import Watch

T = TypeVar("T")
Operation = Callable[[Session], T]

MAX_BATCH = 256  # operations in one transaction
MAX_WAITING = 10_000  # operations; the caller of one more waits for room

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Job:
    operation: Operation[Any]
    future: asyncio.Future[Any]
    durable: bool
    lane: str
    late: Callable[[Any], None] | None


def _fold_log(session: Session) -> None:
    """Stands for folding the log; never called."""


_Result = tuple[_Job, Any, Exception | None]


class Database:
    """Runs operations in transactions; `durable` ones are synced to disk before they return.

    SQLite has a connection for each: the engine's syncs at every commit, the other's commits are
    synced by the next durable commit, which is after them in the one write-ahead log.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        self.url, self.clock = url, clock
        self.dialect: Dialect = dialect_of(url)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._room = asyncio.Semaphore(MAX_WAITING)
        self._lines: dict[Sync, Driver] = {}
        self._watch = Watch(path_of(url)) if self.dialect == "sqlite" else None
        self._waiting = 0
        self._broken: WakefulError | None = None
        self._thread: threading.Thread | None = None
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Database:
        self._thread = threading.Thread(target=self._work, name="wakeful-store", daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            await _to_the_end(asyncio.to_thread(thread.join))

    @property
    def stopped(self) -> bool:
        """Whether its files were taken away, so that it will never write again."""
        return self._broken is not None

    @property
    def waiting(self) -> int:
        """Operations that are queued or run."""
        return self._waiting

    async def run(
        self,
        operation: Operation[T],
        *,
        durable: bool = True,
        lane: str = "~",
        late: Callable[[T], None] | None = None,
    ) -> T:
        """Run it on the database thread; returns after COMMIT.

        `lane` is the thread row that it locks. A caller that is cancelled meanwhile does not undo
        what is queued; `late` then gets the result in its place.
        """
        async with self._room:
            if self._thread is None:
                raise StoreBroken("the store is closed; start the daemon again")
            future: asyncio.Future[T] = self._loop.create_future()
            self._jobs.put(_Job(operation, future, durable, lane, late))
            self._waiting += 1
            try:
                return await future
            finally:
                self._waiting -= 1

    async def fold_log(self) -> None:
        """Write the write-ahead log back into the file and empty it, as far as readers let us."""
        await self.run(_fold_log)

    def post(self, operation: Operation[Any]) -> None:
        """Queue it and do not wait; an error is logged."""
        future = self._loop.create_future()
        future.add_done_callback(_log_failure)
        self._jobs.put(_Job(operation, future, True, "~", None))

    def call(self, function: Callable[[], None]) -> None:
        """Call it on the event loop; for operations, which run on the database thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(function)

    def stop_writes(self, error: WakefulError) -> None:
        """From now on every operation fails with this error."""
        self._broken = error
        log.critical("%s", error, extra={"action": "store_stopped"})

    def _work(self) -> None:
        while batch := self._gather():
            results = self._run_batch(batch)
            self.call(partial(_resolve, results))
        for line in self._lines.values():
            line.close()

    def _gather(self) -> list[_Job]:
        """Wait for one job and take along what else is there; empty when the store closes."""
        batch: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) >= MAX_BATCH or self._jobs.empty():
                break
            job = self._jobs.get()
        if job is None and batch:
            self._jobs.put(None)  # finish these first, then close
        if self.dialect == "postgresql":
            batch.sort(key=lambda one: one.lane)  # rows are locked in one order: no deadlock
        return batch

    def _run_batch(self, batch: list[_Job]) -> list[_Result]:
        try:
            return self._transact(batch)
        except Exception as error:
            if len(batch) > 1:  # one of them spoiled it for all: give each its own transaction
                return [result for job in batch for result in self._run_batch([job])]
            return [(batch[0], None, explain(error, self.url) or error)]

    def _transact(self, batch: list[_Job]) -> list[_Result]:
        if self._broken is not None:
            raise self._broken
        if any(job.operation is _fold_log for job in batch):
            return self._fold(batch)
        line = self._line("FULL" if any(job.durable for job in batch) else "NORMAL")
        try:
            session = self._begin(line)
            results = [_run_one(job, session) for job in batch]
            line.commit()
        except BaseException:
            self._roll_back(line)
            raise
        return results

    def _fold(self, batch: list[_Job]) -> list[_Result]:
        """A log is folded outside a transaction, after the batch that the request came with."""
        others = [job for job in batch if job.operation is not _fold_log]
        results = self._run_batch(others) if others else []
        if self.dialect == "sqlite":
            self._line("FULL").execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return results + [(job, None, None) for job in batch if job.operation is _fold_log]

    def _begin(self, line: Driver) -> Session:
        if self._watch is not None:
            self._watch.look(line, self.stop_writes)
            line.execute("BEGIN IMMEDIATE")
        return Session(line, self.dialect, self.clock.now())

    def _line(self, sync: Sync) -> Driver:
        line = self._lines.get(sync)
        if line is None or getattr(line, "closed", False):
            line = self._lines[sync] = connect(self.url, sync=sync)
        return line

    def _roll_back(self, line: Driver) -> None:
        try:
            line.rollback()
        except Exception as error:
            log.warning("rolling back failed: %s", error, extra={"action": "store_rollback"})


def _run_one(job: _Job, session: Session) -> _Result:
    """Run one job; an error of ours that wrote nothing fails this job alone, not the batch."""
    before = session.writes
    try:
        return job, job.operation(session), None
    except WakefulError as error:
        if session.writes != before:
            raise
        return job, None, error


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait whatever happens: the lock must not be let go while something is written."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _log_failure(future: asyncio.Future[Any]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        log.warning("the store could not tidy up: %s", error, extra={"action": "store_post"})


def _resolve(results: list[_Result]) -> None:
    for job, value, error in results:
        if job.future.done():  # its caller was cancelled
            if error is None and job.late is not None:
                job.late(value)
        elif error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(value)
