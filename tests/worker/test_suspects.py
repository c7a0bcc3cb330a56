"""An event that takes the daemon down must not take its neighbours with it."""

from __future__ import annotations

from pathlib import Path

from tests.service.fakes import HandClock, Script, at_work, done, ended, event, state_of, store_at
from wakeful.events import Claim, Outcome

LIVES = 3  # that ended while everything was claimed


class Neighbours(Script):
    """Notes who ran beside whom."""

    def __init__(self) -> None:
        super().__init__(self.answer)
        self.beside: dict[str, int] = {}

    async def answer(self, claim: Claim) -> Outcome:
        self.beside[claim.thread_key] = max(self.beside.get(claim.thread_key, 0), self.now)
        return done(claim, "ok")


async def _crash(folder: Path, clock: HandClock) -> None:
    """One life that claims all it can and is killed."""
    async with store_at(folder, clock) as store:
        await store.recover()
        assert await store.claim(8)


async def test_what_was_there_at_two_crashes_runs_by_itself(
    tmp_path: Path, clock: HandClock
) -> None:
    async with store_at(tmp_path, clock) as store:
        seqs = [(await store.accept(event("m", thread=f"t{n}"))).seq for n in range(6)]
    for _ in range(LIVES):
        await _crash(tmp_path, clock)
    agent = Neighbours()
    async with store_at(tmp_path, clock) as store, at_work(store, agent, clock):
        fresh = (await store.accept(event("m", thread="fresh"))).seq
        await ended(store, *seqs, fresh)
        for seq in [*seqs, fresh]:
            assert await state_of(store, seq) == "done"
    assert [agent.beside[f"console/t{n}"] for n in range(6)] == [1] * 6


async def test_a_suspect_that_dies_again_and_again_is_buried_alone(
    tmp_path: Path, clock: HandClock
) -> None:
    """Only the event that was there at all five crashes is given up."""
    async with store_at(tmp_path, clock) as store:
        poison = (await store.accept(event("poison", thread="poison"))).seq
    for life in range(5):
        async with store_at(tmp_path, clock) as store:
            await store.accept(event("late", thread=f"late{life}"))
            await store.recover()
            await store.claim(1)  # the oldest: the poison, alone
    agent = Neighbours()
    async with store_at(tmp_path, clock) as store, at_work(store, agent, clock):
        await ended(store, poison)
        assert await state_of(store, poison) == "dead"
    assert "console/poison" not in agent.beside
