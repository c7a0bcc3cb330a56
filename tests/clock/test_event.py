from __future__ import annotations

from tests.clock.world import rule
from wakeful.clock.due import GRACE
from wakeful.clock.event import firing_event
from wakeful.schedule.times import parse_at

NINE = parse_at("2027-01-04T20:00Z", "UTC")
REPORT = rule("report", cron="0 9 * * *", timezone="Pacific/Auckland", deliver="console:ops")
NOW = "It is Tuesday, 2027-01-05, 09:00 in Pacific/Auckland (2027-01-04T20:00:00Z)."


def test_the_agent_is_told_the_time_and_the_zone() -> None:
    assert (
        firing_event(REPORT, NINE, NINE + 900).text == f"{NOW} This is the schedule report.\n\nGo."
    )


def test_one_due_time_is_one_event_whoever_makes_it_and_when() -> None:
    assert firing_event(REPORT, NINE, NINE) == firing_event(REPORT, NINE, NINE + GRACE)


def test_a_late_run_is_told_what_time_it_is_and_what_it_was_meant_for() -> None:
    text = firing_event(REPORT, NINE, NINE + 7_200_000).text
    assert text.startswith("It is Tuesday, 2027-01-05, 11:00 in Pacific/Auckland")
    assert "is late: it was due Tuesday, 2027-01-05, 09:00." in text


def test_where_it_came_from_and_where_its_answer_goes() -> None:
    event = firing_event(REPORT, NINE, NINE)
    assert event.keys == ("schedule/report@2027-01-04T20:00:00Z",)
    assert (event.source, event.principal) == ("schedule", "schedule:report")
    assert (event.channel, event.address) == ("console", "console:ops")
    assert event.data == {
        "schedule": "report",
        "due": "2027-01-04T20:00:00Z",
        "timezone": "Pacific/Auckland",
    }


def test_without_an_address_the_answer_stays_in_the_thread() -> None:
    event = firing_event(rule("r", every=60.0), NINE, NINE)
    assert (event.channel, event.address, event.thread_key) == ("", "", "schedule/r")
