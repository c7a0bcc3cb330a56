from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.desk import load, place
from wakeful.errors import Refused


async def test_a_message_goes_to_the_outbox_of_another_address(tmp_path: Path) -> None:
    send = load(tmp_path, "send")
    async with place(tmp_path) as at:
        said = await send(call=at.call(), to=" ops:alerts ", text="  The disk is full.\n")
        assert said == "Queued for ops:alerts."
        [row] = await at.outbox()
        assert (row["address"], row["ordinal"], row["state"]) == (
            "ops:alerts",
            "send/k1",
            "queued",
        )


async def test_the_same_call_again_sends_nothing_new(tmp_path: Path) -> None:
    send = load(tmp_path, "send")
    async with place(tmp_path) as at:
        await send(call=at.call(), to="ops:alerts", text="one")
        assert "queued already" in await send(call=at.call(), to="ops:alerts", text="one")
        await send(call=at.call("k2"), to="ops:alerts", text="one")
        assert len(await at.outbox()) == 2


@pytest.mark.parametrize(
    ("to", "text", "words"),
    [
        ("op:alerts", "x", 'there is no channel "op"; did you mean "ops"?'),
        ("ann", "x", 'there is no channel "ann"; there are: console, ops'),
        ("ops:", "x", 'write for example "ops:reports"'),
        ("", "x", "there is no channel"),
        ("ops:a", " \n", "the text is empty"),
        ("ops:a", "x" * 40_001, "40000 fit"),
    ],
)
async def test_what_is_refused_says_what_would_do(
    tmp_path: Path, to: str, text: str, words: str
) -> None:
    send = load(tmp_path, "send")
    async with place(tmp_path) as at:
        with pytest.raises(Refused) as caught:
            await send(call=at.call(), to=to, text=text)
        assert words in str(caught.value)
        assert await at.outbox() == []
