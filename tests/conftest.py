"""What all tests share: which of them run here, and why the others do not."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.services.postgres import postgres_cluster, postgres_url

__all__ = ["postgres_cluster", "postgres_url"]

# How long one example takes says something about the machine, not about the code.
# A busy machine is slow to make examples, too; what is slow is not wrong.
settings.register_profile("wakeful", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("wakeful")

IN_CI = os.environ.get("CI") == "true"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fresh", action="store_true", help="also make fresh virtual environments")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if IN_CI or config.getoption("--fresh"):
        return
    skip = pytest.mark.skip(reason="makes a fresh environment, some minutes: `make walkthrough`")
    for item in items:
        if item.get_closest_marker("fresh"):
            item.add_marker(skip)
