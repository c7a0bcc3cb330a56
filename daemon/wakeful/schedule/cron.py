"""When a cron expression fires in a zone, daylight saving included.

APScheduler's triggers walk the calendar on wall time alone, where every day has 24 hours; turning
wall time into instants is done here, since its own answers near a change of the clocks are not the
ones that people expect (a daily job fires twice, or a day is left out).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger

from wakeful.schedule.fields import DAY, DAYS, HOUR, MINUTE, MONTH, Expression, Field, parse
from wakeful.schedule.zones import change, instant, offset, wall, zone

TICK = timedelta(seconds=1)
REACH = timedelta(hours=26)  # no clock is ever set back by more


@lru_cache(maxsize=1024)
def timetable(text: str, timezone: str) -> Timetable:
    """The timetable of a cron expression in a zone. Raises ValueError (CronError) for a bad one."""
    return Timetable(parse(text), zone(timezone))


class Timetable:
    """The instants of one expression in one zone."""

    def __init__(self, expression: Expression, where: tzinfo) -> None:
        self.expression, self.where = expression, where
        self._trigger = _trigger(expression)

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Every instant after a moment, in UTC and in order."""
        walk = self._elapsed if self.expression.elapsed else self._fixed
        moment = moment.astimezone(UTC).replace(microsecond=0)
        while (found := walk(moment)) is not None:
            yield found
            moment = found

    def shows(self, local: datetime) -> bool:
        """Whether the expression names this wall time."""
        return self._wall(local) == local

    def _wall(self, at: datetime) -> datetime | None:
        """The first wall time of the expression that is not before `at`."""
        found = self._trigger.get_next_fire_time(None, at.replace(tzinfo=UTC))
        return found.replace(tzinfo=None) if found else None

    def _fixed(self, moment: datetime) -> datetime | None:
        """Hour and minute are fixed: each wall time once, be it missing or shown twice."""
        local = self._wall(wall(moment, self.where) + TICK)
        while local is not None:
            found = instant(local, self.where)
            if found > moment:
                return found
            local = self._wall(local + TICK)
        return None

    def _elapsed(self, moment: datetime) -> datetime | None:
        """Hour or minute run on: every instant whose wall time matches."""
        start = moment + TICK
        while (local := self._wall(wall(start, self.where))) is not None:
            found = (local - offset(start, self.where)).replace(tzinfo=UTC)
            reach = min(found, start + REACH)
            turn = change(start, reach, self.where)
            if turn is None and reach == found:
                return found
            start = turn or max(reach, found - REACH)
        return None


def _trigger(expression: Expression) -> BaseTrigger:
    weekdays = ",".join(DAYS[day] for day in sorted(expression.weekdays))
    days = _list(expression.days, DAY)
    if expression.either_day:
        return OrTrigger([_part(expression, day=days), _part(expression, day_of_week=weekdays)])
    return _part(expression, day=days, day_of_week="*" if weekdays.count(",") == 6 else weekdays)


def _part(expression: Expression, **days: str) -> CronTrigger:
    return CronTrigger(
        month=_list(expression.months, MONTH),
        hour=_list(expression.hours, HOUR),
        minute=_list(expression.minutes, MINUTE),
        second="0",
        timezone=UTC,
        **days,
    )


def _list(values: frozenset[int], field: Field) -> str:
    return "*" if values == field.all else ",".join(map(str, sorted(values)))
