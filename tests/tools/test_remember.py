from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.desk import load, place
from wakeful.errors import Refused


async def test_a_fact_is_kept_for_the_one_who_talks_and_once(tmp_path: Path) -> None:
    remember = load(tmp_path, "remember")
    async with place(tmp_path) as at:
        for _ in range(2):
            assert await remember(call=at.call(), text=" likes\n tea ") == "Remembered."
        await remember(call=at.call("k2"), text="lives in Lisbon")
        await remember(call=at.call("k3", principal="webhook:ci"), text="builds at night")
        assert await at.memory("console:operator") == ["likes tea", "lives in Lisbon"]
        assert await at.memory("webhook:ci") == ["builds at night"]


@pytest.mark.parametrize("text", ["", " \n", "x" * 1001])
async def test_what_is_refused(tmp_path: Path, text: str) -> None:
    remember = load(tmp_path, "remember")
    async with place(tmp_path) as at:
        with pytest.raises(Refused):
            await remember(call=at.call(), text=text)
        assert await at.memory("console:operator") == []
