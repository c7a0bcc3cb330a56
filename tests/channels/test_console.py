from __future__ import annotations

from pathlib import Path

import pytest

from tests.channels.loading import channel
from tests.web.conftest import open_site
from wakeful.channel import Channel
from wakeful.errors import Refused
from wakeful.events import Receipt, Reply

console = channel("console")


def reply(address: str) -> Reply:
    return Reply(
        id=7,
        event_seq=1,
        ordinal="final/console:a/0",
        thread_key="webhook/ci/1",
        address=address,
        text="hi",
        kind="answer",
        attempts=0,
    )


async def test_what_is_sent_is_known_and_has_a_thread_of_its_own(tmp_path: Path) -> None:
    async with (
        open_site(tmp_path) as site,
        console.open(console.Settings(), site.host) as channel,
    ):
        assert isinstance(channel, Channel)
        receipt = await channel.send(reply("console:reports"))
        assert receipt == Receipt("7", thread_key="console/reports")
        assert await channel.find(reply("console:reports")) == receipt
        assert (await channel.probe()).ok


async def test_an_address_without_a_name_is_refused(tmp_path: Path) -> None:
    async with (
        open_site(tmp_path) as site,
        console.open(console.Settings(), site.host) as channel,
    ):
        with pytest.raises(Refused, match="console:reports"):
            await channel.send(reply("console:"))
