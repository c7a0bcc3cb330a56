"""What every schedule of ours keeps to."""

from __future__ import annotations

import inspect
import sys
from zoneinfo import ZoneInfo

import pytest

from tests.conformance.plugs import everything, forbidden_imports, ours
from wakeful.plugs.find import Entry
from wakeful.schedule import Rule

RULES = [pytest.param(rule, id=rule.name) for rule in everything().schedules]
FILES = [pytest.param(entry, id=entry.name) for entry in ours("schedules") if entry.suffix != ".md"]


def test_all_load() -> None:
    assert {rule.name for rule in everything().schedules} == {
        entry.name for entry in ours("schedules")
    }
    assert RULES


@pytest.mark.parametrize("entry", FILES)
def test_a_file_imports_contracts_only_and_nothing_heavy(entry: Entry) -> None:
    assert forbidden_imports(entry) == []


@pytest.mark.parametrize("rule", RULES)
def test_it_says_once_when_it_fires(rule: Rule) -> None:
    assert [bool(rule.cron), rule.every is not None, rule.at is not None].count(True) == 1
    assert ZoneInfo(rule.timezone)
    assert rule.digest


@pytest.mark.parametrize("rule", RULES)
def test_it_has_a_prompt_or_a_function_and_not_both(rule: Rule) -> None:
    assert bool(rule.prompt) != (rule.run is not None)
    if rule.run is not None:
        assert inspect.iscoroutinefunction(rule.run)
        assert sys.modules[rule.run.__module__].__doc__


@pytest.mark.parametrize("rule", RULES)
def test_one_of_ours_sends_nothing_that_nobody_asked_for(rule: Rule) -> None:
    assert rule.deliver == ""
