from __future__ import annotations

import json

import pytest

from wakeful.host import Host
from wakeful.schedule import Rule
from wakeful.schedule.spec import from_spec, interval, to_spec, when


async def run(host: Host) -> str | None:
    return None


@pytest.mark.parametrize(
    "rule",
    [
        Rule(name="r", cron="0 9 * * 1", timezone="Pacific/Auckland", prompt="Grüße", file="f"),
        Rule(name="r", every=90.5, deliver="console:ops", thread="fresh", catch_up="all"),
        Rule(name="r", at=1, catch_up="skip"),
    ],
)
def test_a_rule_comes_back_as_it_was(rule: Rule) -> None:
    assert from_spec("r", to_spec(rule)) == rule


def test_the_code_of_a_handler_is_not_kept_but_that_there_is_some() -> None:
    spec = to_spec(Rule(name="r", every=60, run=run))
    assert json.loads(spec)["handler"] is True
    assert from_spec("r", spec).run is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule(name="r", cron="0 9 * * 1", timezone="Europe/Berlin"), "0 9 * * 1 Europe/Berlin"),
        (Rule(name="r", every=4260), "every 1h11m"),
        (Rule(name="r", at=0), "at Thu 1970-01-01 00:00 +00:00 UTC"),
    ],
)
def test_when_it_fires_in_words(rule: Rule, words: str) -> None:
    assert when(rule) == words


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "1s"),
        (90, "1m30s"),
        (4260, "1h11m"),
        (86_400, "1d"),
        (1.5, "1.5s"),
        (90_061, "1d1h1m1s"),
    ],
)
def test_an_interval_in_words(seconds: float, text: str) -> None:
    assert interval(seconds) == text
