"""When expressions fire: what every cron says, and a table of nights on which the clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest

from wakeful.schedule.cron import timetable


def fires(cron: str, zone: str, after: str, n: int) -> list[str]:
    moments = timetable(cron, zone).after(datetime.fromisoformat(after))
    return [f"{found:%Y-%m-%dT%H:%MZ}" for found in islice(moments, n)]


NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"
LORD_HOWE, AUCKLAND, APIA = "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Apia"
SANTIAGO, CASABLANCA, TROLL = "America/Santiago", "Africa/Casablanca", "Antarctica/Troll"

# A night, and all firings of 24 hours from there, in UTC.
NIGHTS = [
    # fixed times: one that does not exist fires at the first instant after the gap
    ("30 2 * * *", NEW_YORK, "2027-03-14T05:00Z", ["03-14T07:00"]),
    ("0 2 * * *", NEW_YORK, "2027-03-14T05:00Z", ["03-14T07:00"]),
    ("59 1 * * *", NEW_YORK, "2027-03-14T05:00Z", ["03-14T06:59"]),
    ("0 3 * * *", NEW_YORK, "2027-03-14T05:00Z", ["03-14T07:00"]),
    ("30 2 * * *", BERLIN, "2027-03-27T23:00Z", ["03-28T01:00"]),
    ("15 2 * * *", LORD_HOWE, "2027-10-02T13:00Z", ["10-02T15:30"]),
    ("30 2 * * *", LORD_HOWE, "2027-10-02T13:00Z", ["10-02T15:30"]),
    ("45 2 * * *", LORD_HOWE, "2027-10-02T13:00Z", ["10-02T15:45"]),
    ("30 2 * * *", AUCKLAND, "2027-09-25T12:00Z", ["09-25T14:00"]),
    ("0 0 * * *", SANTIAGO, "2027-09-04T12:00Z", ["09-05T04:00"]),
    ("30 0 * * *", SANTIAGO, "2027-09-04T12:00Z", ["09-05T04:00"]),
    ("30 1 * * *", TROLL, "2027-03-27T12:00Z", ["03-28T01:00"]),
    ("30 2 * * *", TROLL, "2027-03-27T12:00Z", ["03-28T01:00"]),
    # several times in one gap are one instant
    ("0,15,30,45 2 * * *", NEW_YORK, "2027-03-14T05:00Z", ["03-14T07:00"]),
    ("0 1,2,3 * * *", BERLIN, "2027-03-27T23:00Z", ["03-28T00:00", "03-28T01:00", "03-28T23:00"]),
    # fixed times: one that occurs twice fires the first time only
    ("30 1 * * *", NEW_YORK, "2027-11-07T04:00Z", ["11-07T05:30"]),
    ("0 2 * * *", NEW_YORK, "2027-11-07T04:00Z", ["11-07T07:00"]),
    ("30 2 * * *", BERLIN, "2027-10-30T22:00Z", ["10-31T00:30"]),
    ("0 3 * * *", BERLIN, "2027-10-30T22:00Z", ["10-31T02:00"]),
    ("45 1 * * *", LORD_HOWE, "2027-04-03T13:00Z", ["04-03T14:45"]),
    ("30 2 * * *", AUCKLAND, "2027-04-03T11:00Z", ["04-03T13:30"]),
    ("30 23 * * *", SANTIAGO, "2027-04-03T12:00Z", ["04-04T02:30"]),
    ("30 1 * * *", TROLL, "2027-10-30T12:00Z", ["10-30T23:30"]),
    ("0,30 1 * * *", NEW_YORK, "2027-11-07T04:00Z", ["11-07T05:00", "11-07T05:30"]),
    # a whole day that does not exist
    ("0 9 * * *", APIA, "2011-12-29T20:00Z", ["12-30T10:00", "12-30T19:00"]),
    ("0 0 30 12 *", APIA, "2011-12-29T20:00Z", ["12-30T10:00"]),
    ("0 0 * * *", APIA, "2011-12-29T20:00Z", ["12-30T10:00"]),
    # a star or a step in hour or minute follows elapsed time
    (
        "30 * * * *",
        NEW_YORK,
        "2027-03-14T05:00Z",
        [f"03-14T{h:02}:30" for h in range(5, 24)] + [f"03-15T{h:02}:30" for h in range(5)],
    ),
    ("*/30 2 * * *", NEW_YORK, "2027-03-14T05:00Z", []),
    (
        "*/30 1 * * *",
        NEW_YORK,
        "2027-11-07T04:00Z",
        ["11-07T05:00", "11-07T05:30", "11-07T06:00", "11-07T06:30"],
    ),
    (
        "0 */6 * * *",
        BERLIN,
        "2027-10-30T21:00Z",
        ["10-30T22:00", "10-31T05:00", "10-31T11:00", "10-31T17:00"],
    ),
    (
        "0 */2 * * *",
        BERLIN,
        "2027-10-30T22:00Z",
        ["10-31T00:00", "10-31T01:00"] + [f"10-31T{h:02}:00" for h in range(3, 22, 2)],
    ),
]


@pytest.mark.parametrize(("cron", "zone", "night", "expected"), NIGHTS)
def test_C13_a_night_on_which_the_clocks_change(
    cron: str, zone: str, night: str, expected: list[str]
) -> None:
    until = datetime.fromisoformat(night) + timedelta(hours=24)
    found = timetable(cron, zone).after(datetime.fromisoformat(night))
    assert [f"{at:%m-%dT%H:%M}" for at in islice(found, 99) if at <= until] == expected


@pytest.mark.parametrize("start", ["2027-03-13T12:00Z", "2027-11-06T12:00Z"])
@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN, AUCKLAND, SANTIAGO])
@pytest.mark.parametrize("cron", ["15 * * * *", "*/20 * * * *"])
def test_even_spacing_over_a_change_of_whole_hours(cron: str, zone: str, start: str) -> None:
    found = islice(timetable(cron, zone).after(datetime.fromisoformat(start)), 2000)
    assert len({later - earlier for earlier, later in pairwise(found)}) == 1


@pytest.mark.parametrize(
    "zone", ["US/Pacific", BERLIN, LORD_HOWE, AUCKLAND, SANTIAGO, CASABLANCA, TROLL, "Asia/Beirut"]
)
def test_C12_a_daily_schedule_runs_every_day_of_the_year(zone: str) -> None:
    for hour in (0, 2, 12, 23):
        table = timetable(f"0 {hour} * * *", zone)
        found = list(islice(table.after(datetime(2027, 1, 1, tzinfo=UTC)), 365))
        assert found[-1] < datetime(2028, 1, 2, tzinfo=UTC)
        assert len({at.astimezone(table.where).date() for at in found}) == 365


@pytest.mark.parametrize(
    ("cron", "days"),
    [
        ("0 9 * * 0", ["01-03", "01-10", "01-17"]),
        ("0 9 * * 1-5", ["01-01", "01-04", "01-05"]),
        ("0 9 13 * 5", ["01-01", "01-08", "01-13"]),
        ("0 9 29 2 *", ["02-29", "02-29", "02-29"]),
        ("0 9 31 * *", ["01-31", "03-31", "05-31"]),
        ("0 9 */10 * 1", ["01-11", "02-01", "03-01"]),
    ],
)
def test_days(cron: str, days: list[str]) -> None:
    assert [at[5:10] for at in fires(cron, "UTC", "2026-12-31T12:00Z", 3)] == days


@pytest.mark.parametrize("after", ["08:59:59.500", "08:59:59", "08:59:00.001"])
def test_a_moment_with_a_fraction_misses_nothing(after: str) -> None:
    assert fires("0 9 * * *", "UTC", f"2027-01-04T{after}+00:00", 1) == ["2027-01-04T09:00Z"]


@pytest.mark.parametrize("after", ["09:00:00", "09:00:00.500"])
def test_after_means_after(after: str) -> None:
    assert fires("0 9 * * *", "UTC", f"2027-01-04T{after}+00:00", 1) == ["2027-01-05T09:00Z"]


def test_an_unknown_zone_is_named_with_the_right_one() -> None:
    with pytest.raises(ValueError, match="did you mean Pacific/Auckland"):
        timetable("0 9 * * *", "pacific/aukland")
