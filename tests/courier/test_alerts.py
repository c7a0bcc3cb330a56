from __future__ import annotations

from wakeful.courier.alerts import alarm, alert
from wakeful.events import Reply


def lost(address: str = "slack:#ops", ordinal: str = "final/slack:#ops/0") -> Reply:
    return Reply(
        id=7,
        event_seq=3,
        ordinal=ordinal,
        thread_key="t",
        address=address,
        text="the report",
        kind="answer",
        attempts=16,
    )


def test_no_route_no_alert() -> None:
    assert alert(lost(), "down", ()) is None


def test_the_alert_goes_by_another_channel_than_the_one_that_failed() -> None:
    told = alert(lost(), "down", ("slack:#alerts", "console:ops"))
    assert told is not None
    assert told.address == "console:ops"
    assert told.kind == "notice"
    assert "slack:#ops" in told.text and "down" in told.text and "the report" in told.text


def test_a_lost_alert_goes_on_by_the_next_route_and_ends() -> None:
    routes = ("email:ann@example.com", "pager:ops")
    first = alert(lost(), "down", routes)
    assert first is not None
    second = alert(lost(first.address, first.ordinal), "down too", routes)
    assert second is not None and second.address == "pager:ops"
    assert alert(lost(second.address, second.ordinal), "down", routes) is None
    assert len({first.ordinal, second.ordinal}) == 2


def test_an_alarm_avoids_the_channel_that_it_is_about_and_goes_on_like_an_alert() -> None:
    routes = ("slack:#ops", "email:ann@example.com", "console:ops")
    first = alarm("slack", "slack is down", routes)
    assert first is not None and first.address == "email:ann@example.com"
    second = alert(lost(first.address, first.ordinal), "down too", routes)
    assert second is not None and second.address == "console:ops"
    assert alarm("slack", "slack is down", ("slack:#ops",)) is None
