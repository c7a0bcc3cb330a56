from __future__ import annotations

from typing import cast

import pytest

from wakeful.host import Host
from wakeful.plugs.find import builtin_root
from wakeful.plugs.schedules import parse
from wakeful.schedule import Rule
from wakeful.schedule.fires import next_fires, utc_time


@pytest.fixture
def rule() -> Rule:
    found = parse(builtin_root() / "schedules" / "housekeeping.py", default_zone="Europe/Berlin")
    assert isinstance(found, Rule)
    return found


class Tidying:
    """The one thing that housekeeping asks of its host."""

    def __init__(self, **counts: int) -> None:
        self.counts = counts

    async def tidy(self) -> dict[str, int]:
        return self.counts


async def run(rule: Rule, host: Tidying) -> str | None:
    assert rule.run is not None
    return await rule.run(cast(Host, host))


def test_it_comes_at_night_where_the_agent_lives(rule: Rule) -> None:
    assert [utc_time(due) for due in next_fires(rule, 0)] == ["1970-01-01T02:17:00Z"]


async def test_it_says_what_it_cleared(rule: Rule) -> None:
    text = await run(rule, Tidying(steps=3, payloads=12, effects=0))
    assert text == "Cleared: payloads 12, steps 3"


async def test_it_is_silent_when_there_was_nothing(rule: Rule) -> None:
    assert await run(rule, Tidying(steps=0)) is None
    assert await run(rule, Tidying()) is None
