from __future__ import annotations

import pytest

from wakeful.schedule.fields import ALIASES, CronError, parse

ALL_DAYS = frozenset(range(7))


@pytest.mark.parametrize(
    ("field", "weekdays"),
    [
        ("0", {0}),
        ("7", {0}),
        ("sun", {0}),
        ("SUN", {0}),
        ("1-5", {1, 2, 3, 4, 5}),
        ("mon-fri", {1, 2, 3, 4, 5}),
        ("5-7", {5, 6, 0}),
        ("0-7", ALL_DAYS),
        ("*/7", {0}),
        ("*/2", {0, 2, 4, 6}),
        ("1-7/2", {1, 3, 5, 0}),
        ("fri-sun", {5, 6, 0}),
        ("sat,sun", {6, 0}),
        ("sun-tue", {0, 1, 2}),
        ("3/2", {3, 5, 0}),
        ("*", ALL_DAYS),
    ],
)
def test_C30_a_weekday_means_what_cron_has_always_meant(field: str, weekdays: set[int]) -> None:
    assert parse(f"0 9 * * {field}").weekdays == weekdays


@pytest.mark.parametrize(
    ("text", "minutes", "hours"),
    [
        ("5,10,15-17 3 * * *", {5, 10, 15, 16, 17}, {3}),
        ("*/20 9-17/4 * * *", {0, 20, 40}, {9, 13, 17}),
        ("10-30/10,59 0,23 * * *", {10, 20, 30, 59}, {0, 23}),
        ("5/20 0 * * *", {5, 25, 45}, {0}),
    ],
)
def test_lists_ranges_and_steps(text: str, minutes: set[int], hours: set[int]) -> None:
    expression = parse(text)
    assert expression.minutes == minutes
    assert expression.hours == hours


def test_months_have_names() -> None:
    assert parse("0 0 1 jan,Jun-AUG *").months == {1, 6, 7, 8}


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_its_expression(alias: str) -> None:
    assert parse(alias.upper()) == parse(ALIASES[alias])


@pytest.mark.parametrize(
    ("text", "either"),
    [
        ("0 9 1 * 1", True),
        ("0 9 1-31 * 0-7", True),
        ("0 9 * * 1", False),
        ("0 9 1 * *", False),
        ("0 9 */2 * 1", False),
        ("0 9 1 * */2", False),
    ],
)
def test_two_restricted_day_fields_are_alternatives(text: str, either: bool) -> None:
    assert parse(text).either_day is either


@pytest.mark.parametrize(
    ("text", "elapsed"),
    [
        ("30 2 * * *", False),
        ("0,30 1-3 * * *", False),
        ("30 * * * *", True),
        ("*/5 2 * * *", True),
        ("0 0-23/2 * * *", True),
        ("30 2 */2 */3 *", False),
    ],
)
def test_a_star_or_a_step_in_hour_or_minute_follows_elapsed_time(text: str, elapsed: bool) -> None:
    assert parse(text).elapsed is elapsed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "0 fields; cron has five"),
        ("9", "1 field; cron has five"),
        ("0 9 * *", "4 fields"),
        ("0 0 9 * * *", "no seconds"),
        ("@reboot", "@daily"),
        ("60 9 * * *", "60 is no minute; it goes from 0 to 59"),
        ("0 24 * * *", "24 is no hour; it goes from 0 to 23"),
        ("0 9 0 * *", "0 is no day of month"),
        ("0 9 * 13 *", "13 is no month"),
        ("0 9 * * 8", "8 is no day of week"),
        ("0 9 L * *", "no last day"),
        ("0 9 ? * 1", "write *"),
        ("0 9 * * 1#2", "nth weekday"),
        ("0 9 * * 5L", "no last day"),
        ("0 9 15W * *", "no nearest weekday"),
        ("H 9 * * *", "write a number"),
        ("0 9 * * monday", "did you mean mon?"),
        ("0 9 * * thr", "did you mean thu?"),
        ("0 9 * juni *", "did you mean jun?"),
        ("mon 9 * * *", "'mon' is no minute"),
        ("0 22-2 * * *", "write 22-23,0-2"),
        ("*/0 9 * * *", "a number above 0"),
        ("*/x 9 * * *", "a number above 0"),
        ("*/90 * * * *", "write `every:`"),
        ("1,,2 9 * * *", "'' is no minute"),
        ("-1 9 * * *", "'' is no minute"),
        ("\u0661 9 * * *", "is no minute"),
    ],
)
def test_C30_what_is_not_cron_is_told_so_in_words(text: str, words: str) -> None:
    with pytest.raises(CronError) as caught:
        parse(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("0 0 31 2 *", "no 31 Feb"),
        ("0 0 30,31 feb *", "no 30 Feb"),
        ("0 0 31 4,6,9,11 *", "no 31 Apr and Jun and Sep and Nov"),
    ],
)
def test_an_expression_that_never_fires_is_refused(text: str, never: str) -> None:
    with pytest.raises(CronError) as caught:
        parse(text)
    assert never in str(caught.value)


@pytest.mark.parametrize("text", ["0 0 29 2 *", "0 0 31 1,2 *", "0 0 31 2 1", "0 0 */31 2 *"])
def test_a_rare_expression_is_not_refused(text: str) -> None:
    assert parse(text)
