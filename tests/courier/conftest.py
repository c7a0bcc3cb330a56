from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.service.fakes import HandClock, store_at
from wakeful.store import Store


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def store(tmp_path: Path, clock: HandClock) -> AsyncIterator[Store]:
    async with store_at(tmp_path, clock) as opened:
        yield opened
