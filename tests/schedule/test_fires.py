from __future__ import annotations

from itertools import islice

import pytest

from wakeful.schedule import Rule
from wakeful.schedule.fires import fires, local_time, next_fires, preview, utc_time
from wakeful.schedule.times import parse_at, parse_every

MINUTE, DAY = 60_000, 86_400_000  # ms


def ms(text: str) -> int:
    return parse_at(text, "UTC")


def test_an_interval_counts_from_its_anchor() -> None:
    rule = Rule(name="r", every=71 * 60)
    anchor = ms("2027-01-04T08:00Z")
    assert [utc_time(at) for at in next_fires(rule, anchor, 2, anchor=anchor)] == [
        "2027-01-04T09:11:00Z",
        "2027-01-04T10:22:00Z",
    ]


@pytest.mark.parametrize("late", [0, 1, MINUTE, 71 * MINUTE - 1])
def test_C5_an_interval_does_not_move_with_who_asks_when(late: int) -> None:
    rule = Rule(name="r", every=71 * 60)
    assert next_fires(rule, 500 + late, anchor=500) == [500 + 71 * MINUTE]


def test_an_interval_never_fires_at_its_anchor() -> None:
    assert next_fires(Rule(name="r", every=60), -5 * MINUTE, 1, anchor=0) == [MINUTE]


def test_an_interval_does_not_slip_in_a_million_steps() -> None:
    rule, anchor = Rule(name="r", every=1.001), 1_799_999_999_999
    later = anchor + 1_000_000 * 1001
    assert next_fires(rule, later - 1, 2, anchor=anchor) == [later, later + 1001]


def test_a_moment_comes_once() -> None:
    rule = Rule(name="r", at=5000)
    assert next_fires(rule, 4999, 9) == [5000]
    assert next_fires(rule, 5000, 9) == []


def test_cron_times_go_on_for_ever() -> None:
    rule = Rule(name="r", cron="0 9 * * *")
    found = list(islice(fires(rule, 0), 1000))
    assert found == [9 * 3_600_000 + n * DAY for n in range(1000)]


def test_C13_a_preview_says_what_the_clocks_do() -> None:
    rule = Rule(name="r", cron="30 2 * * *", timezone="America/New_York")
    lines = preview(rule, ms("2027-03-13T00:00Z"), 3)
    assert [(line.local, line.utc) for line in lines] == [
        ("Sat 2027-03-13 02:30 -05:00 America/New_York", "2027-03-13T07:30:00Z"),
        ("Sun 2027-03-14 03:00 -04:00 America/New_York", "2027-03-14T07:00:00Z"),
        ("Mon 2027-03-15 02:30 -04:00 America/New_York", "2027-03-15T06:30:00Z"),
    ]
    assert [bool(line.note) for line in lines] == [False, True, False]
    assert "forward" in lines[1].note and "does not exist" in lines[1].note
    assert str(lines[1]).startswith(f"{lines[1].local}  {lines[1].utc}  the clocks")


def test_a_preview_says_that_a_time_comes_twice() -> None:
    rule = Rule(name="r", cron="30 1 * * *", timezone="America/New_York")
    notes = [line.note for line in preview(rule, ms("2027-11-06T00:00Z"), 3)]
    assert notes[0] == ""
    assert "twice" in notes[1]
    assert "went back" in notes[2]


def test_a_preview_of_an_end_is_short() -> None:
    assert len(preview(Rule(name="r", at=5000), 0, 10)) == 1


def test_C7_a_time_is_shown_with_its_zone() -> None:
    at = ms("2027-01-04T20:30Z")
    assert local_time(at, "Pacific/Auckland") == "Tue 2027-01-05 09:30 +13:00 Pacific/Auckland"
    assert local_time(at + 1000, "UTC") == "Mon 2027-01-04 20:30:01 +00:00 UTC"
    assert utc_time(at + 5) == "2027-01-04T20:30:00.005Z"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("71m", 4260),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
        ("90 minutes", 5400),
        ("1 hour 5 mins", 3900),
        ("1.5h", 5400),
        ("2 Days", 172_800),
    ],
)
def test_an_interval_as_people_write_it(text: str, seconds: float) -> None:
    assert parse_every(text) == seconds


@pytest.mark.parametrize("text", ["", "90", "m", "1:30", "0s", "0.5s", "two days", "400d", "-5m"])
def test_what_is_no_interval(text: str) -> None:
    with pytest.raises(ValueError, match=r"write a number and a unit|one second to one year"):
        parse_every(text)


@pytest.mark.parametrize(
    ("text", "zone", "utc"),
    [
        ("2027-03-15 09:00", "Europe/Berlin", "2027-03-15T08:00:00Z"),
        ("2027-03-15T09:00:30", "UTC", "2027-03-15T09:00:30Z"),
        ("2027-03-15T09:00Z", "Europe/Berlin", "2027-03-15T09:00:00Z"),
        ("2027-03-15T09:00+13:00", "Europe/Berlin", "2027-03-14T20:00:00Z"),
        ("2027-03-28 02:30", "Europe/Berlin", "2027-03-28T01:00:00Z"),
        ("2027-10-31 02:30", "Europe/Berlin", "2027-10-31T00:30:00Z"),
    ],
)
def test_a_moment_as_people_write_it(text: str, zone: str, utc: str) -> None:
    assert utc_time(parse_at(text, zone)) == utc


@pytest.mark.parametrize("text", ["", "tomorrow", "2027-02-30 09:00", "9:00"])
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match="write 2027-03-15 09:00"):
        parse_at(text, "UTC")


def test_a_date_alone_is_no_moment() -> None:
    with pytest.raises(ValueError, match="no time of day; write 2027-03-15 09:00"):
        parse_at("2027-03-15", "UTC")
