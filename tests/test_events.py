"""Times and faults as they are written for the world."""

from __future__ import annotations

import pytest

from wakeful.events import Fault, rfc3339


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_767_600_000_001, "2026-01-05T08:00:00.001Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_a_time_leaves_as_rfc3339_in_utc(at: int, text: str) -> None:
    assert rfc3339(at) == text


def test_a_moment_that_has_not_come_has_no_text() -> None:
    assert rfc3339(None) is None


def test_a_fault_names_file_line_and_key_as_far_as_they_are_known() -> None:
    assert str(Fault(file="agent.toml", message="is empty")) == "agent.toml: is empty"
    fault = Fault(file="agent.toml", message="is no time zone", line=3, key="timezone")
    assert str(fault) == "agent.toml:3: timezone: is no time zone"
