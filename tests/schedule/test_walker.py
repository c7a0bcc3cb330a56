"""Random expressions in many zones against somebody who looks at the clock every minute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from wakeful.schedule.cron import timetable

MINUTE = timedelta(minutes=1)
SPAN = timedelta(hours=40)  # on both sides of a change of the clocks

CHANGES = [
    ("UTC", "2027-03-01T00:00Z"),
    ("America/New_York", "2027-03-14T07:00Z"),
    ("America/New_York", "2027-11-07T06:00Z"),
    ("Europe/Berlin", "2027-03-28T01:00Z"),
    ("Europe/Berlin", "2027-10-31T01:00Z"),
    ("Australia/Lord_Howe", "2027-04-03T15:00Z"),
    ("Australia/Lord_Howe", "2027-10-02T15:30Z"),
    ("Pacific/Auckland", "2027-04-03T14:00Z"),
    ("Pacific/Auckland", "2027-09-25T14:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00Z"),
    ("America/Santiago", "2027-04-04T03:00Z"),
    ("America/Santiago", "2027-09-05T04:00Z"),
    ("Africa/Casablanca", "2027-02-07T02:00Z"),
    ("Antarctica/Troll", "2027-03-28T01:00Z"),
    ("Antarctica/Troll", "2027-10-31T01:00Z"),
    ("America/Caracas", "2016-05-01T07:00Z"),
    ("Asia/Pyongyang", "2018-05-04T15:00Z"),
]


@dataclass(frozen=True)
class Field:
    """One field as text, and the values that a reader of the manual would expect of it."""

    text: str
    values: frozenset[int]


@st.composite
def field(draw: st.DrawFn, low: int, high: int) -> Field:
    if draw(st.booleans()):
        return Field("*", frozenset(range(low, high + 1)))
    parts = draw(st.lists(part(low, high), min_size=1, max_size=3))
    return Field(",".join(p.text for p in parts), frozenset().union(*(p.values for p in parts)))


@st.composite
def part(draw: st.DrawFn, low: int, high: int) -> Field:
    first = draw(st.integers(low, high))
    last = draw(st.integers(first, high))
    step = draw(st.integers(1, high))
    shape = draw(st.sampled_from(("one", "range", "stepped", "every")))
    if shape == "one":
        return Field(str(first), frozenset({first}))
    if shape == "range":
        return Field(f"{first}-{last}", frozenset(range(first, last + 1)))
    if shape == "stepped":
        return Field(f"{first}-{last}/{step}", frozenset(range(first, last + 1, step)))
    return Field(f"*/{step}", frozenset(range(low, high + 1, step)))


FIELDS = st.tuples(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))


def matcher(fields: tuple[Field, ...]) -> Callable[[datetime], bool]:
    minute, hour, day, month, weekday = fields
    either = not (day.text.startswith("*") or weekday.text.startswith("*"))

    def matches(local: datetime) -> bool:
        by_day = local.day in day.values
        by_weekday = bool({local.isoweekday(), local.isoweekday() % 7} & weekday.values)
        return (
            local.minute in minute.values
            and local.hour in hour.values
            and local.month in month.values
            and (by_day or by_weekday if either else by_day and by_weekday)
        )

    return matches


def walk(
    matches: Callable[[datetime], bool], elapsed: bool, zone: ZoneInfo, start: datetime
) -> Iterator[datetime]:
    """Look at the clock every minute. A fixed time has come once it shows that or more."""
    now, shown = start, local_time(start, zone)
    while (now := now + MINUTE) <= start + 2 * SPAN:
        local = local_time(now, zone)
        passed = [shown + n * MINUTE for n in range(1, (local - shown) // MINUTE + 1)]
        if matches(local) if elapsed else any(map(matches, passed)):
            yield now
        shown = max(shown, local)


def local_time(now: datetime, zone: ZoneInfo) -> datetime:
    return now.astimezone(zone).replace(tzinfo=None, fold=0)


@settings(max_examples=250, deadline=None)
@given(fields=FIELDS, change=st.sampled_from(CHANGES), shift=st.integers(0, 59))
def test_it_fires_when_somebody_who_watches_the_clock_says_so(
    fields: tuple[Field, ...], change: tuple[str, str], shift: int
) -> None:
    name, at = change
    start = datetime.fromisoformat(at).astimezone(UTC) - SPAN + shift * MINUTE
    text = " ".join(one.text for one in fields)
    try:
        table = timetable(text, name)
    except ValueError as refused:
        assert "never fire" in str(refused)
        return
    elapsed = any(mark in fields[0].text + fields[1].text for mark in "*/")
    found = list(takewhile(lambda moment: moment <= start + 2 * SPAN, table.after(start)))
    assert found == list(walk(matcher(fields), elapsed, ZoneInfo(name), start))


@settings(max_examples=100, deadline=None)
@given(fields=FIELDS, change=st.sampled_from(CHANGES), seconds=st.integers(-90_000, 90_000))
def test_the_next_time_does_not_depend_on_where_one_begins(
    fields: tuple[Field, ...], change: tuple[str, str], seconds: int
) -> None:
    name, at = change
    middle = datetime.fromisoformat(at).astimezone(UTC) + timedelta(seconds=seconds)
    try:
        table = timetable(" ".join(one.text for one in fields), name)
    except ValueError:
        return
    earlier = table.after(middle - timedelta(hours=50))
    assert next((each for each in earlier if each > middle), None) == next(
        table.after(middle), None
    )
