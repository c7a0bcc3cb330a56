"""What a cron expression says: five fields, read the way cron has always read them."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of each month
FOREIGN = {
    "?": "write * where any day will do",
    "L": "cron has no last day; write 28-31 and let the prompt decide, or use the 1st",
    "W": "cron has no nearest weekday; name the weekdays instead",
    "#": "cron has no nth weekday; a .py schedule can look at the date",
    "H": "cron has no hashed times; write a number",
}


class CronError(ValueError):
    """The expression is not standard cron; the sentence says where and what to write instead."""


@dataclass(frozen=True, slots=True)
class Field:
    """One of the five places of an expression: its name, its limits and the names of its values."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    @property
    def all(self) -> frozenset[int]:
        return frozenset(range(self.low, self.high + 1))


MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
DAY = Field("day of month", 1, 31)
MONTH = Field("month", 1, 12, MONTHS)
WEEKDAY = Field("day of week", 0, 7, DAYS)  # 0 and 7 are Sunday
FIELDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)


@dataclass(frozen=True, slots=True)
class Expression:
    """A cron expression, each field spelled out. Weekdays count from Sunday, 0 to 6."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool  # both day fields are restricted: one of them is enough
    elapsed: bool  # `*` or `/` in hour or minute: follows elapsed time, not the wall clock


def parse(text: str) -> Expression:
    """Read a cron expression. Raises CronError."""
    words = _words(text)
    minutes, hours, days, months, weekdays = (
        _values(word, field) for word, field in zip(words, FIELDS, strict=True)
    )
    # As in every cron since Vixie's: a day field that begins with * leaves the choice to the other.
    restricted = [word for word in (words[2], words[4]) if not word.startswith("*")]
    _must_fire(days, months, alone=restricted == [words[2]])
    return Expression(
        minutes,
        hours,
        days,
        months,
        frozenset(day % 7 for day in weekdays),
        either_day=len(restricted) == 2,
        elapsed=any(mark in words[0] + words[1] for mark in "*/"),
    )


def _words(text: str) -> list[str]:
    text = text.strip()
    if text.startswith("@"):
        return _alias(text).split()
    words = text.split()
    if len(words) == 6:
        raise CronError("six fields; cron has five and no seconds. For seconds write `every: 30s`")
    if len(words) != 5:
        raise CronError(
            f"{len(words)} field{'' if len(words) == 1 else 's'}; cron has five: "
            "minute, hour, day of month, month, day of week"
        )
    return words


def _alias(text: str) -> str:
    known = ALIASES.get(text.lower())
    if known is None:
        raise CronError(f"{text!r} is not a known name; there are {', '.join(ALIASES)}")
    return known


def _values(word: str, field: Field) -> frozenset[int]:
    return frozenset().union(*(_part(part, field) for part in word.split(",")))


def _part(part: str, field: Field) -> range:
    span, slash, step = part.partition("/")
    low, high = _span(span, field, open_ended=bool(slash))
    if not slash:
        return range(low, high + 1)
    if not step.isdecimal() or int(step) == 0:
        raise CronError(f"{part!r} in {field.name}: a step is a number above 0")
    if int(step) > field.high:
        raise CronError(
            f"{part!r} in {field.name}: {step} is longer than the field, so it would not repeat; "
            "for longer intervals write `every:`"
        )
    return range(low, high + 1, int(step))


def _span(span: str, field: Field, *, open_ended: bool) -> tuple[int, int]:
    if span == "*":
        return field.low, field.high
    first, dash, last = span.partition("-")
    low = _number(first, field)
    if not dash:
        return low, field.high if open_ended else low
    high = _number(last, field)
    if field is WEEKDAY and high == 0 < low:
        high = 7  # fri-sun
    if high < low:
        raise CronError(
            f"{span!r} in {field.name} runs backwards; write {low}-{field.high},{field.low}-{high}"
        )
    return low, high


def _number(word: str, field: Field) -> int:
    if word.isascii() and word.isdecimal():
        number = int(word)
        if field.low <= number <= field.high:
            return number
        raise CronError(f"{word} is no {field.name}; it goes from {field.low} to {field.high}")
    name = word.lower()
    if name in field.names:
        return field.names.index(name) + (field is MONTH)
    raise CronError(_no_value(word, field))


def _no_value(word: str, field: Field) -> str:
    near = get_close_matches(word[:3].lower(), field.names, n=1, cutoff=0.6)
    if near:
        return f"{word!r} is no {field.name}; did you mean {near[0]}?"
    for mark, advice in FOREIGN.items():
        if mark in word.upper():
            return f"{word!r} in {field.name}: {advice}"
    named = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
    return f"{word!r} is no {field.name}; write a number from {field.low} to {field.high}{named}"


def _must_fire(days: frozenset[int], months: frozenset[int], *, alone: bool) -> None:
    """Refuse the 31st of February, when no weekday can stand in for it."""
    if alone and all(min(days) > LONGEST[month - 1] for month in months):
        names = " and ".join(MONTHS[month - 1].capitalize() for month in sorted(months))
        raise CronError(f"it would never fire: there is no {min(days)} {names}")
