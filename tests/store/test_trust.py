from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.fakes import HandClock, event, store_at
from wakeful.errors import LeaseLost
from wakeful.events import Done


async def test_a_mark_stays_for_the_thread_until_it_begins_anew(tmp_path: Path) -> None:
    async with store_at(tmp_path, HandClock()) as store:
        await store.accept(event("one"))
        (claim,) = await store.claim(1)
        assert not claim.untrusted
        await store.mark_untrusted(thread_key=claim.thread_key, fence=claim.fence)
        await store.finish(claim, Done(silent="nothing to say"))
        await store.accept(event("two"))
        (claim,) = await store.claim(1)
        assert claim.untrusted
        await store.finish(claim, Done(silent="nothing to say"))
        await store.accept(event("three", fresh=True))
        (claim,) = await store.claim(1)
        assert not claim.untrusted


async def test_whoever_lost_the_thread_marks_nothing(tmp_path: Path) -> None:
    async with store_at(tmp_path, HandClock()) as store:
        await store.accept(event("one"))
        (claim,) = await store.claim(1)
        with pytest.raises(LeaseLost):
            await store.mark_untrusted(thread_key=claim.thread_key, fence=claim.fence - 1)
