"""Runs the schedules that are written in Python, and records what came of each run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from wakeful.events import Outgoing
from wakeful.host import Host
from wakeful.redact import redact
from wakeful.schedule import Rule
from wakeful.schedule.fires import local_time
from wakeful.store import Store

SECONDS = 900.0  # a run may take so long
DRAIN = 5.0  # seconds that a run may go on while the daemon stops

log = logging.getLogger(__name__)


class Handlers:
    """The runs of `async def run(host)` that are under way, one at a time for each schedule."""

    def __init__(
        self,
        store: Store,
        host_for: Callable[[str], Host],
        *,
        alerts: Sequence[str] = (),
        seconds: float = SECONDS,
        ended: Callable[[], None] = lambda: None,
        redact: Callable[[str], str] = redact,
    ) -> None:
        self._store, self._host_for, self._told = store, host_for, ended
        self.alerts, self._seconds = tuple(alerts), seconds
        self._redact = redact
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def busy(self, name: str) -> bool:
        """Whether the run before has not ended."""
        return name in self._tasks

    def start(self, rule: Rule, due: int) -> None:
        """Run it beside everything else; its firing is on disk already."""
        task = asyncio.create_task(self._run(rule, due), name=f"schedule {rule.name}")
        self._tasks[rule.name] = task
        task.add_done_callback(partial(self._forget, rule.name))

    def _forget(self, name: str, task: asyncio.Task[None]) -> None:
        del self._tasks[name]
        if not task.cancelled() and (error := task.exception()):
            message = "what came of schedule %s could not be recorded: %s"
            log.error(message, name, error, extra={"action": "handler_lost"})
        self._told()

    async def idle(self) -> None:
        """Wait until no run is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())
            await asyncio.sleep(0)  # the callbacks that take them off the list

    async def stop(self) -> None:
        """Give the runs a moment to end, then end them."""
        tasks = list(self._tasks.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=DRAIN)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=DRAIN)

    async def _run(self, rule: Rule, due: int) -> None:
        assert rule.run is not None
        try:
            async with asyncio.timeout(self._seconds):
                text = await rule.run(self._host_for(rule.name))
        except asyncio.CancelledError:
            end = self._end(rule, due, "interrupted", "the daemon stopped before it ended")
            await asyncio.shield(end)
            raise
        except TimeoutError:
            why = f"it took longer than {self._seconds:.0f} s and was stopped"
            await self._end(rule, due, "failed", why)
        except (Exception, SystemExit) as error:
            log.exception("schedule %s failed", rule.name, extra={"action": "handler_failed"})
            await self._end(rule, due, "failed", f"{type(error).__name__}: {error}")
        else:
            await self._end(rule, due, "done" if text else "silent", text or "")

    async def _end(self, rule: Rule, due: int, state: str, outcome: str) -> None:
        reply, outcome = None, self._redact(outcome)
        if state == "done" and rule.deliver:
            reply = Outgoing(
                ordinal=f"final/{rule.deliver}/0",
                address=rule.deliver,
                text=outcome,
                kind="report",
            )
        elif state not in ("done", "silent"):
            reply = self.report(rule, due, state, outcome)
        await self._store.end_firing(rule.name, due, state, outcome, reply=reply)

    def report(self, rule: Rule, due: int, state: str, why: str) -> Outgoing | None:
        """What is told of a run that went wrong."""
        time = local_time(due, rule.timezone)
        text = f"The schedule {rule.name} of {time} {_WORDS[state]}: {why}. It was not repeated."
        log.warning("%s", text, extra={"action": f"handler_{state}"})
        return self.notice(rule, text)

    def notice(self, rule: Rule, text: str) -> Outgoing | None:
        """What people are told, by the first alert route or where the schedule delivers."""
        address = self.alerts[0] if self.alerts else rule.deliver
        if not address:
            return None
        return Outgoing(ordinal="notice", address=address, text=text, kind="notice")


_WORDS = {"failed": "failed", "interrupted": "was interrupted"}
