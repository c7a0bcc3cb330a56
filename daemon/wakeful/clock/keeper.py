"""The clock: what is due becomes a firing on disk, once, whatever restarts, sleeps or jumps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from wakeful.clock.alarm import LOOK, Alarm
from wakeful.clock.due import Fire, Skip, decide, first
from wakeful.clock.event import firing_event
from wakeful.clock.handlers import SECONDS, Handlers
from wakeful.errors import Refused, Unknown, WakefulError
from wakeful.events import Health
from wakeful.host import Clock, Host
from wakeful.redact import redact
from wakeful.schedule import Rule
from wakeful.schedule.fires import local_time
from wakeful.schedule.spec import to_spec
from wakeful.store import Store
from wakeful.store.schedules import ScheduleRow

EVER = 2**62  # ms; after every firing
JUMP = 1000  # ms; a wall clock that went back by more was set

log = logging.getLogger(__name__)


class Timekeeper:
    """Fires the schedules of an agent folder."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        host_for: Callable[[str], Host],
        *,
        alerts: Sequence[str] = (),
        seconds: float = SECONDS,
        redact: Callable[[str], str] = redact,
    ) -> None:
        self._store, self._clock, self._seconds = store, clock, seconds
        self._rules: dict[str, Rule] = {}
        self._kept: frozenset[str] = frozenset()
        self._lock = asyncio.Lock()  # one look at the schedules at a time
        self._looked: int | None = None  # wall time of the last look
        self._alarm: Alarm | None = None
        self._stack = AsyncExitStack()
        self.handlers = Handlers(
            store,
            host_for,
            alerts=alerts,
            seconds=seconds,
            ended=self._look_soon,
            redact=redact,
        )

    async def __aenter__(self) -> Timekeeper:
        self._alarm = await self._stack.enter_async_context(Alarm(self.tick, clock=self._clock))
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._lock:  # a look that is under way comes to its end
            await self._stack.aclose()
        await self.handlers.stop()

    async def use(self, rules: Sequence[Rule], *, kept: Collection[str] = ()) -> None:
        """Go by these rules from now on. `kept`: names whose file is there, but cannot be read."""
        async with self._lock:
            self._rules = {rule.name: rule for rule in rules}
            self._kept = frozenset(kept)
            await self._sync(self._clock.now())
        self._look_soon()

    def _look_soon(self) -> None:
        if self._alarm is not None:
            self._alarm.set(self._clock.now())

    async def recover(self) -> int:
        """Report the runs that a killed daemon left behind, once each; call it after `use`."""
        longest = int(self._seconds * 1000)  # another daemon's run may still be under way
        limit = EVER if self._store.alone else self._clock.now() - 2 * longest
        broken = await self._store.broken_firings(limit)
        for row in broken:
            rule = self._rules.get(row.name) or Rule(name=row.name, at=row.due_at)
            why = "the daemon ended before it did"
            reply = self.handlers.report(rule, row.due_at, "interrupted", why)
            await self._store.end_firing(row.name, row.due_at, "interrupted", why, reply=reply)
        return len(broken)

    async def tick(self) -> int | None:
        """Fire what is due, and say when to look again."""
        async with self._lock:
            now = self._clock.now()
            if self._looked is not None and now < self._looked - JUMP:
                log.warning("the clock was set back", extra={"action": "clock_set_back"})
                await self._sync(now)
            self._looked = now
            for row in await self._store.due_schedules(now):
                await self._due(row, now)
            return await self._store.next_schedule_due(after=now)

    async def run_now(self, name: str) -> int:
        """Fire a schedule because a person asked; its event. Raises Unknown or Refused."""
        rule = self._rules.get(name)
        if rule is None:
            raise Unknown(f"there is no schedule {name!r}; `wakeful schedules` lists them")
        if rule.run and self.handlers.busy(name):
            raise Refused(f"{name} is running already; wait until it has ended")
        now = self._clock.now()
        event = firing_event(rule, now, now, asked=True)
        accepted = await self._store.fire_now(name, now, event, here=rule.run is not None)
        if accepted is None:
            raise Refused(f"{name} fires at this very moment already")
        if rule.run:
            self.handlers.start(rule, now)
        return accepted.seq

    def probe(self) -> Health:
        """Whether the schedules were looked at when they should have been."""
        if self._alarm is None:
            return Health(False, "nobody looks at the schedules")
        age = self._clock.boot() - self._alarm.looked
        return Health(age < 3 * LOOK, f"the schedules were looked at {age:.0f} s ago")

    async def _due(self, row: ScheduleRow, now: int) -> None:
        """One schedule whose time has come; its trouble is not that of the others."""
        rule = self._rules.get(row.name)
        if rule is None or rule.digest != row.digest:
            return
        try:
            await self._catch_up(rule, row, now)
        except WakefulError:  # the store's: the same for all
            raise
        except Exception:
            log.exception("schedule %s did not fire", row.name, extra={"action": "clock_fault"})

    async def _catch_up(self, rule: Rule, row: ScheduleRow, now: int) -> None:
        """Do what the rule says about every time up to now."""
        seen = row.next_at
        while seen is not None and seen <= now:
            step = decide(rule, seen, now, anchor=row.anchor or 0)
            if rule.run and isinstance(step, Fire) and self.handlers.busy(rule.name):
                if rule.catch_up == "all":  # it stays due, until the run before has ended
                    return
                step = Skip(step.due, step.next_at, "skipped: the run before had not ended")
            if isinstance(step, Skip):
                await self._skip(rule, step, seen, now)
            else:
                await self._fire(rule, step, seen, now)
            seen = step.next_at

    async def _skip(self, rule: Rule, step: Skip, seen: int, now: int) -> None:
        notice = self.handlers.notice(rule, f"The schedule {rule.name} was {step.reason}.")
        await self._store.skip_firing(
            rule.name,
            step.due,
            step.next_at,
            step.reason,
            seen=seen,
            event=firing_event(rule, step.due, now) if step.told and notice else None,
            notice=notice,
        )
        message = "schedule %s %s"
        log.warning(message, rule.name, step.reason, extra={"action": "firing_missed"})

    async def _fire(self, rule: Rule, step: Fire, seen: int, now: int) -> None:
        event = firing_event(rule, step.due, now)
        accepted = await self._store.fire(
            rule.name,
            step.due,
            event,
            step.next_at,
            seen=seen,
            here=rule.run is not None,
            missed=step.missed,
        )
        if accepted is None:  # another clock was first
            return
        log.info("schedule %s fires", rule.name, extra={"action": "fired", "event": accepted.seq})
        if rule.run:
            self.handlers.start(rule, step.due)

    async def _sync(self, now: int) -> None:
        """Store the rules. What is due stays due; what is still to come is computed anew."""
        known = {row.name: row for row in await self._store.schedule_rows()}
        rows = [_row(rule, known.get(rule.name), now) for rule in self._rules.values()]
        gone = await self._store.sync_schedules(rows, keep=self._kept)
        for name in gone:
            log.warning(
                "the file of schedule %s is gone, so it does not fire any more",
                name,
                extra={"action": "schedule_gone"},
            )


def _row(rule: Rule, known: ScheduleRow | None, now: int) -> ScheduleRow:
    anchor = now - now % 1000  # whole seconds, so that due times are
    fresh = ScheduleRow(
        name=rule.name, spec_json=to_spec(rule), digest=rule.digest, anchor=anchor, next_at=None
    )
    if known is None or known.digest != rule.digest:
        then = first(rule, now, anchor)
        if then is None:
            log.warning(
                "schedule %s lies in the past (%s), so it never fires",
                rule.name,
                local_time(rule.at or 0, rule.timezone),
                extra={"action": "schedule_past"},
            )
        return replace(fresh, next_at=then)
    if known.next_at is None or known.next_at <= now:  # over, or due: `catch_up` decides
        return replace(fresh, anchor=known.anchor, next_at=known.next_at)
    anchor = min(known.anchor or 0, now)  # ahead of now: the clock was set back
    return replace(fresh, anchor=anchor, next_at=first(rule, now, anchor))
