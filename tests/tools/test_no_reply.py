from __future__ import annotations

from pathlib import Path

from tests.agent.kit import call, calls, world
from tests.tools.desk import load, place
from wakeful.events import Done


async def test_the_reason_comes_back_in_one_line(tmp_path: Path) -> None:
    no_reply = load(tmp_path, "no_reply")
    async with place(tmp_path) as at:
        assert await no_reply(call=at.call(), reason=" a\n copy ") == "a copy"
        assert await no_reply(call=at.call(), reason=" ") == "no reason given"
        assert await at.outbox() == []


async def test_a_run_that_calls_it_ends_in_a_recorded_silence(tmp_path: Path) -> None:
    async with world(tmp_path, lambda _: calls(call("no_reply", "c1", reason="a test"))) as at:
        found = await at.turn("ping")
        assert isinstance(found, Done)
        assert (found.silent, found.replies) == ("a test", ())
