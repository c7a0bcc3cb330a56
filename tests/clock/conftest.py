from __future__ import annotations

from pathlib import Path

import pytest

from tests.clock.world import Hands, World
from wakeful.schedule.times import parse_at


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, Hands(parse_at("2027-01-04T08:00Z", "UTC")))
