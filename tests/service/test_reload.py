"""Following a folder: what changed is handed on, what fails is said and survived."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any, cast

import pytest

from tests.service.fakes import until
from wakeful.config import Settings
from wakeful.plugs import Folder, Snapshot
from wakeful.service.reload import keep_reloading

FIRST = Snapshot(digest="1", settings=Settings(model="rehearsal"))


class Pages:
    """A folder whose scans are the given pages, the last of them for ever."""

    def __init__(self, *pages: Snapshot | Exception) -> None:
        self.pages = list(pages)

    def scan(self) -> Snapshot:
        page = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
        if isinstance(page, Exception):
            raise page
        return page


async def adopted(*pages: Snapshot | Exception, wanted: int, fail: int = 0) -> list[str]:
    seen: list[str] = []

    async def adopt(snapshot: Snapshot) -> None:
        seen.append(snapshot.digest)
        if len(seen) <= fail:
            raise ValueError("cannot be used")

    folder = cast(Folder, cast(Any, Pages(*pages)))
    task = asyncio.create_task(keep_reloading(folder, adopt, current=FIRST, every=0.001))
    await until(lambda: len(seen) >= wanted)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return seen


async def test_only_what_changed_is_handed_on() -> None:
    second, third = replace(FIRST, digest="2"), replace(FIRST, digest="3")
    assert await adopted(FIRST, second, second, third, wanted=2) == ["2", "3"]


async def test_a_scan_that_fails_is_said_and_survived(caplog: pytest.LogCaptureFixture) -> None:
    second = replace(FIRST, digest="2")
    with caplog.at_level(logging.ERROR):
        assert await adopted(OSError("disk"), second, wanted=1) == ["2"]
    assert "the last good version stays in use" in caplog.text


async def test_what_could_not_be_taken_over_does_not_end_it() -> None:
    second, third = replace(FIRST, digest="2"), replace(FIRST, digest="3")
    assert await adopted(second, third, wanted=2, fail=1) == ["2", "3"]


async def test_what_could_not_be_taken_over_is_tried_again() -> None:
    assert await adopted(replace(FIRST, digest="2"), wanted=3, fail=2) == ["2", "2", "2"]
