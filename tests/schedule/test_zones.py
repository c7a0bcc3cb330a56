from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from wakeful.schedule.zones import change, exists, instant, twice, zone


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("europe/berlin", "Europe/Berlin"),
        ("Auckland", "Pacific/Auckland"),
        ("new york", "America/New_York"),
        ("Europe/Berlim", "Europe/Berlin"),
    ],
)
def test_a_wrong_zone_is_answered_with_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean {right}"):
        zone(wrong)


@pytest.mark.parametrize("wrong", ["", "UTC+2x?", "/etc/passwd", "../etc/passwd", "Europe", "\0"])
def test_what_is_no_zone_at_all_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="there is no time zone"):
        zone(wrong)


def test_C36_zones_are_there_without_the_machine_s_database(tmp_path: Path) -> None:
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath(to=(str(tmp_path),))
    try:
        zoneinfo.ZoneInfo.clear_cache()
        there = zoneinfo.ZoneInfo("Pacific/Auckland")
        assert datetime(2027, 1, 1, tzinfo=UTC).astimezone(there).hour == 13
    finally:
        zoneinfo.reset_tzpath(to=before)
        zoneinfo.ZoneInfo.clear_cache()


def test_times_that_are_missing_or_double() -> None:
    berlin = zone("Europe/Berlin")
    missing, double = datetime(2027, 3, 28, 2, 30), datetime(2027, 10, 31, 2, 30)
    assert not exists(missing, berlin) and not twice(missing, berlin)
    assert exists(double, berlin) and twice(double, berlin)
    assert instant(missing, berlin) == datetime(2027, 3, 28, 1, tzinfo=UTC)
    assert instant(double, berlin) == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)


def test_a_change_is_found_to_the_second() -> None:
    start = datetime(2027, 3, 27, 22, 17, 3, tzinfo=UTC)
    berlin = zone("Europe/Berlin")
    turn = datetime(2027, 3, 28, 1, tzinfo=UTC)
    assert change(start, start + timedelta(days=1), berlin) == turn
    assert change(start, turn, berlin) == turn
    assert change(start, turn - timedelta(seconds=1), berlin) is None
    assert change(turn, turn + timedelta(days=1), berlin) is None
