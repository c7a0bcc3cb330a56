from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clock.world import World, rule
from wakeful.clock import keeper
from wakeful.clock.due import Fire, Skip, decide
from wakeful.errors import Refused, StoreFull, Unknown
from wakeful.schedule import CatchUp, Rule

DAILY = "30 8 * * *"


async def test_a_schedule_fires_when_it_is_due_and_not_before(world: World) -> None:
    world.rules = [rule("report", cron=DAILY)]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:29:59Z")
        assert await daemon.ledger("report") == []
        await daemon.at("2027-01-04T08:30Z")
        assert await daemon.ledger("report") == [("2027-01-04T08:30:00Z", "running")]
        assert await daemon.next_at("report") == "2027-01-05T08:30:00Z"
        [event] = await daemon.answer()
        assert event.keys == ("schedule/report@2027-01-04T08:30:00Z",)
        assert await daemon.ledger("report") == [("2027-01-04T08:30:00Z", "silent")]


async def test_C1_down_over_the_due_time_runs_late_once(world: World) -> None:
    world.rules = [rule("report", cron=DAILY)]
    world.hands.set("2027-01-04T08:29:50Z")
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
    world.hands.set("2027-01-04T08:31:00Z")
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
        await daemon.keeper.tick()
        [event] = await daemon.answer()
        assert "is late: it was due Monday, 2027-01-04, 08:30" in event.text
        assert await daemon.ledger("report") == [("2027-01-04T08:30:00Z", "silent")]


async def test_C1_or_is_recorded_and_told_as_missed_when_the_rule_says_skip(world: World) -> None:
    world.rules = [rule("report", cron=DAILY, catch_up="skip", deliver="console:ops")]
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
    world.hands.set("2027-01-04T08:31:00Z")
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
        assert await daemon.answer() == []
        [firing] = await daemon.firings("report")
        assert firing.state == "skipped"
        assert (firing.outcome or "").startswith("missed: due Mon 2027-01-04 08:30")
        assert await daemon.next_at("report") == "2027-01-05T08:30:00Z"
        [told] = await daemon.store.take_replies(8)
        assert (told.kind, told.address) == ("notice", "console:ops")
        assert told.text.startswith("The schedule report was missed: due Mon 2027-01-04 08:30")
        event = await daemon.store.view.event(told.event_seq) or {}
        assert (event["state"], event["error"]) == ("silent", firing.outcome)


async def test_C5_an_interval_goes_on_over_a_restart(world: World) -> None:
    world.rules = [rule("sweep", every=71 * 60.0)]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:30Z")
    async with world.daemon() as daemon:
        assert await daemon.next_at("sweep") == "2027-01-04T09:11:00Z"
        await daemon.at("2027-01-04T09:11Z")
        assert await daemon.ledger("sweep") == [("2027-01-04T09:11:00Z", "running")]


async def test_C9_nothing_fires_at_a_first_start(world: World) -> None:
    zones = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland", "Asia/Kolkata"]
    world.rules = [rule(f"r{n}", cron="0 9 * * *", timezone=zone) for n, zone in enumerate(zones)]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:00:01Z")
        assert await daemon.answer() == []
        assert [await daemon.next_at(f"r{n}") for n in range(5)] == [
            "2027-01-04T09:00:00Z",
            "2027-01-05T08:00:00Z",
            "2027-01-04T14:00:00Z",
            "2027-01-04T20:00:00Z",
            "2027-01-05T03:30:00Z",
        ]


async def test_C10_a_run_by_hand_has_the_same_today(world: World) -> None:
    world.rules = [rule("report", cron="0 9 * * *", timezone="Pacific/Auckland")]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T20:00Z")
        world.hands.set("2027-01-04T20:00:40Z")
        await daemon.keeper.run_now("report")
        due, by_hand = await daemon.answer()
        today = "It is Tuesday, 2027-01-05, 09:00 in Pacific/Auckland"
        assert due.text.startswith(today) and by_hand.text.startswith(today)


@pytest.mark.parametrize(
    ("catch_up", "answered", "ledger"),
    [
        ("once", 1, {"skipped": 1, "silent": 1}),
        ("skip", 0, {"skipped": 1}),
        ("all", 180, {"silent": 180}),
    ],
)
async def test_C16_a_backlog_is_what_the_rule_says(
    world: World, catch_up: CatchUp, answered: int, ledger: dict[str, int]
) -> None:
    world.rules = [rule("often", cron="* * * * *", catch_up=catch_up)]
    world.hands.set("2027-01-04T08:00:10Z")
    async with world.daemon():
        pass
    world.hands.set("2027-01-04T11:00:40Z")
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
        assert len(await daemon.answer()) == answered
        states = [state for _, state in await daemon.ledger("often")]
        assert {state: states.count(state) for state in states} == ledger
        assert await daemon.next_at("often") == "2027-01-04T11:01:00Z"


async def test_C2_after_a_day_down_each_schedule_runs_once_at_most(world: World) -> None:
    world.rules = [rule(f"r{n}", cron=f"0 {9 + n} * * *", catch_up="skip") for n in range(5)]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T22:10Z")
        assert await daemon.answer() == []
        assert [len(await daemon.firings(f"r{n}")) for n in range(5)] == [1] * 5


async def test_C15_a_tick_that_is_late_by_seconds_still_fires(world: World) -> None:
    world.rules = [rule("report", cron=DAILY, catch_up="skip")]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:30:05Z")
        [event] = await daemon.answer()
        assert "late" not in event.text


@pytest.mark.parametrize("catch_up", ["once", "skip"])
async def test_C19_a_moment_that_was_missed_does_not_stay_open(
    world: World, catch_up: CatchUp
) -> None:
    world.rules = [rule("reminder", at=world.hands.ms + 60_000, catch_up=catch_up)]
    async with world.daemon():
        pass
    world.hands.set("2027-01-07T08:00Z")
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
        assert len(await daemon.answer()) == (catch_up == "once")
        assert len(await daemon.firings("reminder")) == 1
        assert await daemon.next_at("reminder") is None


async def test_a_moment_in_the_past_never_fires_and_says_so(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.rules = [rule("old", at=world.hands.ms - 1)]
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
        assert await daemon.firings("old") == []
    assert "schedule old lies in the past" in caplog.text


async def test_C27_two_clocks_on_one_store_fire_once(world: World) -> None:
    world.rules = [rule("report", cron="* * * * *")]
    async with world.daemon() as daemon:
        other = world.keeper(daemon.store)
        await other.use(world.rules)
        for minute in range(1, 61):
            world.hands.ms += 60_000
            first, second = (daemon.keeper, other) if minute % 2 else (other, daemon.keeper)
            await first.tick()
            await second.tick()
        assert len(await daemon.answer()) == 60


async def test_C34_every_minute_means_every_minute(world: World) -> None:
    world.rules = [rule("often", cron="* * * * *")]
    async with world.daemon() as daemon:
        for _ in range(0, 3600, 7):
            world.hands.ms += 7000
            await daemon.keeper.tick()
        assert len(await daemon.answer()) == 60


async def test_D_the_clock_set_back_repeats_nothing_and_stops_nothing(world: World) -> None:
    world.rules = [rule("report", cron="*/10 * * * *"), rule("sweep", every=600.0)]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:10Z")
        await daemon.at("2027-01-04T08:20Z")
        assert len(await daemon.answer()) == 4
        await daemon.at("2027-01-04T08:05Z")
        await daemon.at("2027-01-04T08:10Z")
        await daemon.at("2027-01-04T08:20Z")
        assert await daemon.answer() == []
        await daemon.at("2027-01-04T08:30Z")
        assert len(await daemon.answer()) == 2


async def test_a_clock_that_was_years_ahead_does_not_silence_a_schedule(world: World) -> None:
    world.rules = [rule("report", cron=DAILY), rule("sweep", every=3600.0)]
    world.hands.set("2035-01-01T00:00Z")
    async with world.daemon() as daemon:
        await daemon.keeper.tick()
    world.hands.set("2027-01-04T08:00Z")
    async with world.daemon() as daemon:
        assert await daemon.next_at("report") == "2027-01-04T08:30:00Z"
        assert await daemon.next_at("sweep") == "2027-01-04T09:00:00Z"


async def test_C33_an_edited_rule_leaves_nothing_of_the_old_one(world: World) -> None:
    async with world.daemon() as daemon:
        for minute in range(10):
            await daemon.keeper.use([rule("report", cron=f"{minute} 9 * * *")])
        await daemon.at("2027-01-04T10:00Z")
        assert len(await daemon.answer()) == 1
        assert await daemon.ledger("report") == [("2027-01-04T09:09:00Z", "silent")]


async def test_another_prompt_does_not_move_an_interval(world: World) -> None:
    async with world.daemon() as daemon:
        await daemon.keeper.use([rule("sweep", every=3600.0, digest="hourly")])
        world.hands.set("2027-01-04T08:30Z")
        edited = rule("sweep", every=3600.0, digest="hourly", deliver="console:ops")
        await daemon.keeper.use([edited])
        assert await daemon.next_at("sweep") == "2027-01-04T09:00:00Z"
        await daemon.at("2027-01-04T09:00Z")
        [event] = await daemon.answer()
        assert (event.address, event.channel) == ("console:ops", "console")


async def test_a_file_that_is_gone_stops_and_begins_anew_when_it_is_back(world: World) -> None:
    world.rules = [rule("sweep", every=3600.0)]
    async with world.daemon() as daemon:
        await daemon.keeper.use([])
        await daemon.at("2027-01-04T12:30Z")
        assert await daemon.next_at("sweep") is None
        await daemon.keeper.use(world.rules)
        await daemon.keeper.tick()
        assert await daemon.answer() == []
        assert await daemon.next_at("sweep") == "2027-01-04T13:30:00Z"


async def test_a_file_that_cannot_be_read_now_is_caught_up_when_it_can(world: World) -> None:
    world.rules = [rule("report", cron=DAILY)]
    async with world.daemon():
        pass
    world.rules, broken = [], world.rules
    world.kept = ("report",)
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T09:00Z")
        assert await daemon.answer() == []
        await daemon.keeper.use(broken)
        await daemon.keeper.tick()
        assert len(await daemon.answer()) == 1


async def test_a_fresh_thread_and_an_address_travel_with_the_event(world: World) -> None:
    world.rules = [rule("report", cron=DAILY, thread="fresh", deliver="console:ops")]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:30Z")
        [event] = await daemon.answer()
    assert (event.fresh, event.address, event.thread_key) == (
        True,
        "console:ops",
        "schedule/report",
    )
    assert (event.kind, event.principal) == ("firing", "schedule:report")


async def test_run_now_leaves_the_next_time_alone(world: World) -> None:
    world.rules = [rule("report", cron=DAILY)]
    async with world.daemon() as daemon:
        seq = await daemon.keeper.run_now("report")
        assert seq > 0
        [event] = await daemon.answer()
        assert "A person asked for this run" in event.text
        assert await daemon.next_at("report") == "2027-01-04T08:30:00Z"
        with pytest.raises(Refused, match="this very moment"):
            await daemon.keeper.run_now("report")
        with pytest.raises(Unknown, match="`wakeful schedules` lists them"):
            await daemon.keeper.run_now("reprot")


async def test_tick_says_when_to_look_again(world: World) -> None:
    world.rules = [rule("a", cron="0 9 * * *"), rule("b", cron=DAILY)]
    async with world.daemon() as daemon:
        assert await daemon.keeper.tick() == world.hands.ms + 30 * 60_000
        await daemon.keeper.use([])
        assert await daemon.keeper.tick() is None


async def test_the_alarm_clock_rings_the_keeper(world: World) -> None:
    world.rules = [rule("report", cron=DAILY)]
    async with world.daemon() as daemon:
        assert not daemon.keeper.probe().ok
        world.hands.set("2027-01-04T08:30Z")
        async with daemon.keeper:
            assert daemon.keeper.probe().ok
            await asyncio.wait_for(daemon.store.work.wait(), 5)
            assert await daemon.ledger("report") == [("2027-01-04T08:30:00Z", "running")]
            await daemon.keeper.use(world.rules)  # waits for the look to end
            assert daemon.keeper.probe().ok
            world.hands.ms += 120_000
            assert not daemon.keeper.probe().ok


async def test_a_schedule_in_trouble_does_not_stop_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world.rules = [rule("bad", cron="29 8 * * *"), rule("good", cron=DAILY)]

    def decided(found: Rule, *args: Any, **kwargs: Any) -> Fire | Skip:
        if found.name == "bad":
            raise OverflowError("date value out of range")
        return decide(found, *args, **kwargs)

    monkeypatch.setattr(keeper, "decide", decided)
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:30Z")
        assert [event.principal for event in await daemon.answer()] == ["schedule:good"]
    assert "schedule bad did not fire" in caplog.text


async def test_C35_a_store_that_refuses_is_not_fired_past(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.rules = [rule("report", cron=DAILY)]
    async with world.daemon() as daemon:
        with monkeypatch.context() as disk:
            disk.setattr(daemon.store.db, "run", full)
            with pytest.raises(StoreFull):
                await daemon.at("2027-01-04T08:30Z")
        await daemon.at("2027-01-04T08:31Z")
        assert len(await daemon.answer()) == 1


async def full(*_: object, **__: object) -> None:
    raise StoreFull
