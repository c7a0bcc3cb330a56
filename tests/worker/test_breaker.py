from __future__ import annotations

import pytest

from tests.service.fakes import HandClock
from wakeful.backoff import Backoff
from wakeful.worker import Breaker


def breaker(clock: HandClock) -> Breaker:
    return Breaker(clock, backoff=Backoff(first=10.0, cap=40.0))


def test_closed_it_gives_every_place() -> None:
    assert breaker(HandClock()).room(8) == 8


def test_an_outage_pauses_everybody_then_lets_one_try() -> None:
    clock = HandClock()
    one = breaker(clock)
    pause = one.failed(1, "down", retry_after=None)
    assert one.room(8) == 0
    clock.move(pause + 0.01)
    assert one.room(8) == 1
    one.started(1)
    assert one.room(8) == 0
    one.passed(1)
    assert one.room(8) == 8


def test_P20_a_retry_after_of_the_provider_is_obeyed() -> None:
    clock = HandClock()
    one = breaker(clock)
    assert one.failed(1, "429", retry_after=120.0) == 120.0
    clock.move(119.0)
    assert one.room(8) == 0
    clock.move(1.1)
    assert one.room(8) == 1


def test_a_failed_probe_waits_longer_than_before() -> None:
    clock = HandClock()
    one = breaker(clock)
    first = one.failed(1, "down", retry_after=None)
    clock.move(first + 0.01)
    one.started(1)
    assert one.failed(1, "down", retry_after=None) > first


def test_many_events_that_fail_together_are_one_outage() -> None:
    clock = HandClock()
    one = breaker(clock)
    one.failed(1, "down", retry_after=None)
    clock.move(30)
    one.started(1)
    for late in range(2, 10):  # runs that began before the outage
        one.failed(late, "down", retry_after=None)
    assert one.failed(1, "down", retry_after=None) < 30


def test_a_long_probe_does_not_hold_up_everybody() -> None:
    clock = HandClock()
    one = breaker(clock)
    clock.move(one.failed(1, "down", retry_after=None) + 0.01)
    one.started(1)
    assert one.pause() == pytest.approx(30.0)
    clock.move(30.1)
    assert one.room(8) == 1


def test_a_probe_that_says_nothing_makes_room_for_another() -> None:
    clock = HandClock()
    one = breaker(clock)
    clock.move(one.failed(1, "down", retry_after=None) + 0.01)
    one.started(2)
    one.left(2)
    assert one.room(8) == 1
