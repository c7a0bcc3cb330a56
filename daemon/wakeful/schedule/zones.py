"""Wall clocks: what the clock on the wall in a zone says, and at which instant it says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from difflib import get_close_matches
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

SECOND = timedelta(seconds=1)


@lru_cache(maxsize=256)
def zone(name: str) -> ZoneInfo:
    """The IANA zone of that name. Raises ValueError with the nearest right name."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError(_advice(name)) from error


def _advice(name: str) -> str:
    known = {entry.lower(): entry for entry in available_timezones()}
    known |= {entry.rpartition("/")[2].lower(): entry for entry in sorted(known.values())}
    near = get_close_matches(name.strip().lower().replace(" ", "_"), known, n=1, cutoff=0.7)
    hint = f"did you mean {known[near[0]]}?" if near else "write an IANA name: Europe/Berlin"
    return f"there is no time zone {name!r}; {hint}"


def wall(instant: datetime, where: tzinfo) -> datetime:
    """The wall time of an instant, without a zone."""
    return instant.astimezone(where).replace(tzinfo=None, fold=0)


def instant(local: datetime, where: tzinfo) -> datetime:
    """The first instant at which the wall clock shows this time or a later one.

    A time that does not exist is the first instant after the gap; of two, it is the first.
    """
    first = local.replace(tzinfo=where, fold=0).astimezone(UTC)
    if wall(first, where) == local:
        return first
    before = local.replace(tzinfo=where, fold=1).astimezone(UTC)
    return change(before, first, where) or first


def exists(local: datetime, where: tzinfo) -> bool:
    """Whether the wall clock ever shows this time."""
    return wall(local.replace(tzinfo=where, fold=0).astimezone(UTC), where) == local


def twice(local: datetime, where: tzinfo) -> bool:
    """Whether the wall clock shows this time two times."""
    first, second = (local.replace(tzinfo=where, fold=fold).astimezone(UTC) for fold in (0, 1))
    return first < second and exists(local, where)


def offset(at: datetime, where: tzinfo) -> timedelta:
    """How far the wall clock is ahead of UTC at an instant."""
    return at.astimezone(where).utcoffset() or timedelta()


def change(after: datetime, until: datetime, where: tzinfo) -> datetime | None:
    """The first instant in (after, until] with another offset than `after`, to the second.

    The two must be less than a week apart: no zone has ever changed twice in that time.
    """
    if offset(after, where) == offset(until, where):
        return None
    low, high = after, until
    while high - low > SECOND:
        middle = low + ((high - low) / 2 // SECOND or 1) * SECOND
        if offset(middle, where) == offset(after, where):
            low = middle
        else:
            high = middle
    return high
