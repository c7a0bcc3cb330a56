"""`every:` and `at:` as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from wakeful.schedule.fires import EPOCH, MS
from wakeful.schedule.zones import instant, zone

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds
LONGEST = 366 * UNITS["d"]
_INTERVAL = re.compile(r"(?:\d+(?:\.\d+)?[smhdw])+")
_PIECE = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_UNIT_WORD = re.compile(r"\s*(seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?)\b")


def parse_every(text: str) -> float:
    """Seconds of an interval such as `90s`, `45m`, `1h30m` or `2 days`. Raises ValueError."""
    short = _UNIT_WORD.sub(lambda found: found[1][0], text.strip().lower())
    short = re.sub(r"\s+", "", short)
    if not _INTERVAL.fullmatch(short):
        raise ValueError(f"{text!r} is no interval; write a number and a unit: 90s, 45m, 1h30m, 2d")
    seconds = sum(float(count) * UNITS[unit] for count, unit in _PIECE.findall(short))
    if not 1 <= seconds <= LONGEST:
        raise ValueError(f"{text!r} is outside of one second to one year")
    return seconds


def parse_at(text: str, timezone: str) -> int:
    """A moment, ms UTC; wall time of the zone unless it carries an offset. Raises ValueError."""
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no date and time; write 2027-03-15 09:00") from None
    if "T" not in text.upper() and ":" not in text:
        raise ValueError(f"{text!r} has no time of day; write {at:%Y-%m-%d} 09:00")
    found = at.astimezone(UTC) if at.tzinfo else instant(at, zone(timezone))
    return (found - EPOCH) // MS
