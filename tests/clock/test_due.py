from __future__ import annotations

import time

import pytest

from tests.clock.world import rule
from wakeful.clock.due import GRACE, Fire, Skip, decide, first, newest
from wakeful.schedule import CatchUp
from wakeful.schedule.times import parse_at

MINUTE, DAY = 60_000, 86_400_000  # ms
NINE = parse_at("2027-01-04T09:00Z", "UTC")


@pytest.mark.parametrize("catch_up", ["skip", "once", "all"])
@pytest.mark.parametrize("late", [0, 1, GRACE])
def test_on_time_it_fires_whatever_catch_up_says(catch_up: CatchUp, late: int) -> None:
    found = rule("r", cron="0 9 * * *", catch_up=catch_up)
    assert decide(found, NINE, NINE + late, anchor=0) == Fire(NINE, NINE + DAY)


def test_all_fires_one_after_the_other() -> None:
    found = rule("r", cron="0 9 * * *", catch_up="all")
    assert decide(found, NINE, NINE + 3 * DAY, anchor=0) == Fire(NINE, NINE + DAY)


def test_once_fires_the_newest_and_accounts_for_the_others() -> None:
    step = decide(rule("r", cron="0 9 * * *"), NINE, NINE + 3 * DAY + 1, anchor=0)
    assert isinstance(step, Fire)
    assert (step.due, step.next_at) == (NINE + 3 * DAY, NINE + 4 * DAY)
    assert step.missed == (
        NINE,
        "missed: 3 firings from Mon 2027-01-04 09:00 +00:00 UTC on, "
        "Thu 2027-01-07 09:00 +00:00 UTC stands in",
    )


def test_skip_accounts_for_all_in_one_line() -> None:
    found = rule("r", cron="* * * * *", catch_up="skip")
    step = decide(found, NINE, NINE + 2 * MINUTE + GRACE + 1, anchor=0)
    assert isinstance(step, Skip)
    assert (step.due, step.next_at) == (NINE, NINE + 3 * MINUTE)
    assert step.reason.startswith("missed: 3 firings from Mon 2027-01-04 09:00")


def test_skip_fires_the_newest_when_that_is_on_time() -> None:
    found = rule("r", cron="* * * * *", catch_up="skip")
    step = decide(found, NINE, NINE + 2 * MINUTE + GRACE, anchor=0)
    assert isinstance(step, Fire) and step.due == NINE + 2 * MINUTE


@pytest.mark.parametrize("catch_up", ["skip", "once", "all"])
def test_after_the_last_time_there_is_none(catch_up: CatchUp) -> None:
    step = decide(rule("r", at=NINE, catch_up=catch_up), NINE, NINE + DAY, anchor=0)
    assert (step.due, step.next_at) == (NINE, None)


def test_a_time_that_the_rule_does_not_name_any_more_still_counts() -> None:
    step = decide(rule("r", cron="0 9 * * *"), NINE + 5, NINE + 10, anchor=0)
    assert step == Fire(NINE + 5, NINE + DAY)


@pytest.mark.parametrize("age", [0, 1, MINUTE, DAY, 45 * DAY])
def test_the_newest_of_an_interval(age: int) -> None:
    found = rule("r", every=71 * 60.0)
    seen = first(found, 0, 0)
    assert seen is not None
    expected = seen + age // (71 * MINUTE) * 71 * MINUTE
    assert newest(found, seen, seen + age, 0) == expected


def test_a_year_of_minutes_is_decided_quickly() -> None:
    found = rule("r", cron="* * * * *")
    began = time.process_time()
    step = decide(found, NINE, NINE + 365 * DAY, anchor=0)
    assert time.process_time() - began < 1
    assert isinstance(step, Fire) and step.missed is not None
    assert step.due == NINE + 365 * DAY
    assert "more than 100 firings" in step.missed[1]
