"""Down over a night on which the clocks change, with each way to catch up."""

from __future__ import annotations

import pytest

from tests.clock.world import World, rule
from wakeful.schedule import CatchUp

NIGHTS = [
    # (cron, zone, down from, up again, the times that were due meanwhile)
    ("30 2 * * *", "America/New_York", "2027-03-14T06:00Z", "2027-03-14T12:00Z", ["03-14T07:00"]),
    ("30 1 * * *", "America/New_York", "2027-11-07T04:00Z", "2027-11-07T12:00Z", ["11-07T05:30"]),
    ("30 2 * * *", "Europe/Berlin", "2027-10-30T23:00Z", "2027-10-31T05:00Z", ["10-31T00:30"]),
    (
        "0 * * * *",
        "Europe/Berlin",
        "2027-10-30T22:30Z",
        "2027-10-31T02:30Z",
        ["10-30T23:00", "10-31T00:00", "10-31T01:00", "10-31T02:00"],
    ),
    (
        "45 1 * * *",
        "Australia/Lord_Howe",
        "2027-04-03T14:00Z",
        "2027-04-04T00:00Z",
        ["04-03T14:45"],
    ),
    (
        "0 9 * * *",
        "Pacific/Apia",
        "2011-12-29T18:00Z",
        "2011-12-30T20:00Z",
        ["12-29T19:00", "12-30T10:00", "12-30T19:00"],
    ),
]


@pytest.mark.parametrize("catch_up", ["skip", "once", "all"])
@pytest.mark.parametrize(("cron", "zone", "down", "up", "due"), NIGHTS)
async def test_what_was_due_in_the_night(
    world: World, cron: str, zone: str, down: str, up: str, due: list[str], catch_up: CatchUp
) -> None:
    world.rules = [rule("r", cron=cron, timezone=zone, catch_up=catch_up)]
    world.hands.set(down)
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
    world.hands.set(up)
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
        await daemon.keeper.tick()
        keys = [event.keys[0][16:27] for event in await daemon.answer()]
        assert keys == {"skip": [], "once": due[-1:], "all": due}[catch_up]


@pytest.mark.parametrize(("cron", "zone", "down", "up", "due"), NIGHTS)
async def test_who_is_awake_in_the_night_fires_each_once(
    world: World, cron: str, zone: str, down: str, up: str, due: list[str]
) -> None:
    world.rules = [rule("r", cron=cron, timezone=zone)]
    world.hands.set(down)
    async with world.daemon() as daemon:
        end = world.hands.ms
        world.hands.set(up)
        end, world.hands.ms = world.hands.ms, end
        while world.hands.ms < end:
            world.hands.ms += 15 * 60_000
            await daemon.keeper.tick()
        assert [event.keys[0][16:27] for event in await daemon.answer()] == due
