"""The next times of a rule, for the clock and for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from wakeful.schedule import Rule
from wakeful.schedule.cron import timetable
from wakeful.schedule.zones import offset, twice, wall, zone

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Preview:
    """One coming firing, as people read it."""

    local: str  # wall time with its offset and zone
    utc: str  # RFC 3339
    note: str = ""  # what the clocks do around it, when they do something

    def __str__(self) -> str:
        line = f"{self.local}  {self.utc}"
        return f"{line}  {self.note}" if self.note else line


def next_fires(rule: Rule, after: int, n: int = 1, *, anchor: int = 0) -> list[int]:
    """The first n times after a moment, ms UTC; intervals count from `anchor`. Fewer at its end."""
    return list(islice(fires(rule, after, anchor=anchor), n))


def fires(rule: Rule, after: int, *, anchor: int = 0) -> Iterator[int]:
    """All times after a moment, in order."""
    if rule.at is not None:
        return iter([rule.at] if rule.at > after else [])
    if rule.every is not None:
        return _multiples(round(rule.every * 1000), after, anchor)
    moments = timetable(rule.cron, rule.timezone).after(moment(after))
    return ((found - EPOCH) // MS for found in moments)


def _multiples(period: int, after: int, anchor: int) -> Iterator[int]:
    # Whole numbers, not APScheduler's interval trigger: it counts in floats and may slip by one.
    due = anchor + max(1, (after - anchor) // period + 1) * period
    while True:
        yield due
        due += period


def preview(rule: Rule, after: int, n: int = 10, *, anchor: int = 0) -> list[Preview]:
    """The next n firings in local time and UTC, with a note where the clocks change."""
    where = zone(rule.timezone)
    lines: list[Preview] = []
    before = offset(moment(after), where)
    for due in fires(rule, after, anchor=anchor):
        if len(lines) == n:
            break
        at = moment(due)
        lines.append(
            Preview(local_time(due, rule.timezone), utc_time(due), _note(rule, at, before))
        )
        before = offset(at, where)
    return lines


def _note(rule: Rule, at: datetime, before: timedelta) -> str:
    where = zone(rule.timezone)
    now = offset(at, where)
    if now != before:
        words = f"the clocks went {'forward' if now > before else 'back'} since the line above"
        return f"{words}; {_moved(rule, at)}" if _moved(rule, at) else words
    if _is_fixed(rule) and twice(wall(at, where), where):
        return "this time comes twice; it fires the first time only"
    return ""


def _moved(rule: Rule, at: datetime) -> str:
    """What is said of a firing that was moved out of a gap."""
    local = wall(at, zone(rule.timezone))
    if not _is_fixed(rule) or timetable(rule.cron, rule.timezone).shows(local):
        return ""
    return "its own time does not exist, so it fires at the first instant after the gap"


def _is_fixed(rule: Rule) -> bool:
    return bool(rule.cron) and not timetable(rule.cron, rule.timezone).expression.elapsed


def moment(ms: int) -> datetime:
    """Milliseconds as a datetime in UTC."""
    return EPOCH + ms * MS


def utc_time(ms: int) -> str:
    """RFC 3339 with Z, to the second, or to the millisecond where there are any."""
    text = moment(ms).isoformat(timespec="milliseconds" if ms % 1000 else "seconds")
    return text.replace("+00:00", "Z")


def local_time(ms: int, timezone: str) -> str:
    """The wall clock of a zone, for people: `Mon 2027-03-15 09:00 +01:00 Europe/Berlin`."""
    at = moment(ms).astimezone(zone(timezone))
    stamp = at.strftime("%a %Y-%m-%d %H:%M:%S" if at.second else "%a %Y-%m-%d %H:%M")
    return f"{stamp} {at.isoformat()[-6:]} {timezone}"
