"""Schedules in Python: what is recorded and told of each way in which a run can end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from tests.clock.world import Daemon, World, rule
from wakeful.clock.handlers import Handlers
from wakeful.errors import Refused
from wakeful.events import Receipt, Reply
from wakeful.host import Host
from wakeful.schedule import Rule
from wakeful.store import Store

Run = Callable[[Host], Awaitable[str | None]]


def handler(run: Run, **what: Any) -> Rule:
    return rule("sweep", cron="30 8 * * *", run=run, **what)


class Gate:
    """A run that begins, waits until it is let go on, and ends with a text."""

    def __init__(self) -> None:
        self.began, self.go_on = asyncio.Event(), asyncio.Event()
        self.runs = 0

    async def __call__(self, host: Host) -> str | None:
        self.runs += 1
        self.began.set()
        await self.go_on.wait()
        return "swept"


@pytest.fixture
def host(world: World) -> Host:
    found = cast(Host, object())
    world.host_for = lambda name: found
    return found


async def delivered(daemon: Daemon) -> list[Reply]:
    """Take what is in the outbox and say that it was sent."""
    taken: list[Reply] = []
    while replies := await daemon.store.take_replies(10):
        for reply in replies:
            taken.append(reply)
            await daemon.store.sent(reply, Receipt(f"r{reply.id}"))
    return taken


@asynccontextmanager
async def due(world: World, found: Rule) -> AsyncIterator[Daemon]:
    """A daemon in which the handler has just become due."""
    world.rules = [found]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:30Z")
        yield daemon


async def test_the_text_of_a_run_is_recorded_and_delivered(world: World, host: Host) -> None:
    async def run(given: Host) -> str | None:
        assert given is host
        return "12 files swept"

    async with due(world, handler(run, deliver="console:ops")) as daemon:
        await daemon.keeper.handlers.idle()
        [firing] = await daemon.firings("sweep")
        assert (firing.state, firing.outcome) == ("done", "12 files swept")
        [reply] = await delivered(daemon)
        assert (reply.address, reply.text, reply.kind) == (
            "console:ops",
            "12 files swept",
            "report",
        )
        assert await daemon.answer() == []  # the agent has nothing to do with it
        [firing] = await daemon.firings("sweep")
        assert firing.delivery == "sent"


async def test_nothing_to_say_is_recorded_as_silence(world: World, host: Host) -> None:
    async def run(host: Host) -> str | None:
        return None

    async with due(world, handler(run, deliver="console:ops")) as daemon:
        await daemon.keeper.handlers.idle()
        assert await daemon.ledger("sweep") == [("2027-01-04T08:30:00Z", "silent")]
        assert await delivered(daemon) == []


async def test_a_run_that_raises_is_recorded_and_told_elsewhere(world: World, host: Host) -> None:
    async def run(host: Host) -> str | None:
        raise OSError("no such share")

    world.alerts = ("console:alarm",)
    async with due(world, handler(run, deliver="console:ops")) as daemon:
        await daemon.keeper.handlers.idle()
        [firing] = await daemon.firings("sweep")
        assert (firing.state, firing.outcome) == ("failed", "OSError: no such share")
        [reply] = await delivered(daemon)
        assert (reply.address, reply.kind) == ("console:alarm", "notice")
        assert "The schedule sweep of Mon 2027-01-04 08:30" in reply.text
        assert "OSError: no such share" in reply.text


async def test_a_run_that_calls_exit_ends_itself_and_not_the_daemon(
    world: World, host: Host
) -> None:
    async def run(_: Host) -> str | None:
        sys.exit(3)

    async with due(world, handler(run, deliver="console:ops")) as daemon:
        await daemon.keeper.handlers.idle()
        [firing] = await daemon.firings("sweep")
        assert (firing.state, firing.outcome) == ("failed", "SystemExit: 3")


async def test_a_run_that_takes_too_long_is_stopped_and_told(world: World, host: Host) -> None:
    world.seconds = 0.01
    async with due(world, handler(Gate(), deliver="console:ops")) as daemon:
        await daemon.keeper.handlers.idle()
        [firing] = await daemon.firings("sweep")
        assert firing.state == "failed"
        assert "took longer than" in (firing.outcome or "")
        assert len(await delivered(daemon)) == 1


async def test_C17_a_run_longer_than_its_period_skips_the_next_and_says_so(
    world: World, host: Host
) -> None:
    gate = Gate()
    async with due(world, handler(gate)) as daemon:
        await gate.began.wait()
        await daemon.at("2027-01-05T08:30Z")
        gate.go_on.set()
        await daemon.keeper.handlers.idle()
        first, second = await daemon.firings("sweep")
        assert (gate.runs, first.state, second.state) == (1, "done", "skipped")
        assert second.outcome == "skipped: the run before had not ended"
        await daemon.at("2027-01-06T08:30Z")
        await daemon.keeper.handlers.idle()
        assert gate.runs == 2


async def test_all_means_all_one_after_the_other(world: World, host: Host) -> None:
    gate = Gate()
    gate.go_on.set()
    world.rules = [handler(gate, catch_up="all")]
    async with world.daemon() as daemon:
        world.hands.set("2027-01-06T12:00Z")
        for runs in (1, 2, 3, 3):
            await daemon.keeper.tick()
            await daemon.keeper.handlers.idle()
            assert gate.runs == runs
        assert [state for _, state in await daemon.ledger("sweep")] == ["done"] * 3


async def test_the_end_of_a_run_rings_the_alarm_for_what_stayed_due(
    world: World, host: Host
) -> None:
    runs, third = 0, asyncio.Event()

    async def run(host: Host) -> str | None:
        nonlocal runs
        runs += 1
        if runs == 3:
            third.set()
        return None

    world.rules = [handler(run, catch_up="all")]
    async with world.daemon() as daemon:
        world.hands.set("2027-01-06T12:00Z")
        async with daemon.keeper:
            await asyncio.wait_for(third.wait(), 5)
        assert [state for _, state in await daemon.ledger("sweep")] == ["silent"] * 3


async def test_a_run_by_hand_waits_for_none_but_refuses_a_second(world: World, host: Host) -> None:
    gate = Gate()
    async with due(world, handler(gate)) as daemon:
        await gate.began.wait()
        with pytest.raises(Refused, match="running already"):
            await daemon.keeper.run_now("sweep")
        gate.go_on.set()
        await daemon.keeper.handlers.idle()
        world.hands.ms += 1
        assert await daemon.keeper.run_now("sweep") > 0
        await daemon.keeper.handlers.idle()
        assert [state for _, state in await daemon.ledger("sweep")] == ["done", "done"]


async def test_a_daemon_that_stops_says_what_it_interrupted(
    world: World, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wakeful.clock.handlers.DRAIN", 0.0)
    gate = Gate()
    async with due(world, handler(gate, deliver="console:ops")) as daemon:
        await gate.began.wait()
        await daemon.keeper.handlers.stop()
        [firing] = await daemon.firings("sweep")
        assert (firing.state, firing.outcome) == (
            "interrupted",
            "the daemon stopped before it ended",
        )
        [reply] = await delivered(daemon)
        assert "was interrupted" in reply.text and "not repeated" in reply.text


async def test_C4_a_run_that_outlived_its_daemon_writes_nothing_more(
    world: World, host: Host
) -> None:
    gate = Gate()
    async with due(world, handler(gate, deliver="console:ops")) as daemon:
        await gate.began.wait()
        successor = world.keeper(daemon.store)
        await successor.use(world.rules)
        assert await successor.recover() == 1
        gate.go_on.set()
        await daemon.keeper.handlers.idle()
        assert await daemon.ledger("sweep") == [("2027-01-04T08:30:00Z", "interrupted")]
        [reply] = await delivered(daemon)
        assert "was interrupted" in reply.text


CHILD = """
import asyncio, sys
from pathlib import Path
from tests.clock.world import Hands, World, rule

async def run(host):
    print("began", flush=True)
    await asyncio.Event().wait()

async def main():
    world = World(Path(sys.argv[1]), Hands(int(sys.argv[2])))
    world.host_for = lambda name: None
    world.rules = [rule("sweep", cron="30 8 * * *", run=run, deliver="console:ops", digest="d")]
    async with world.daemon() as daemon:
        await daemon.at("2027-01-04T08:30Z")
        await daemon.keeper.handlers.idle()

asyncio.run(main())
"""


async def test_C4_killed_in_a_run_it_is_told_as_interrupted_once(
    world: World, host: Host, request: pytest.FixtureRequest
) -> None:
    command = [sys.executable, "-c", CHILD, str(world.path), str(world.hands.ms)]
    child = await asyncio.create_subprocess_exec(
        *command, cwd=request.config.rootpath, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    assert await child.stdout.readline() == b"began\n"
    child.kill()
    await child.wait()
    gate = Gate()
    world.rules = [handler(gate, deliver="console:ops", digest="d")]
    world.hands.set("2027-01-04T08:31Z")
    for told in (1, 0):
        async with world.daemon() as daemon:
            await daemon.keeper.tick()
            assert await daemon.ledger("sweep") == [("2027-01-04T08:30:00Z", "interrupted")]
            assert len(await delivered(daemon)) == told
    assert gate.runs == 0


async def test_stop_without_runs_does_nothing() -> None:
    await Handlers(cast(Store, None), lambda name: cast(Host, None)).stop()
