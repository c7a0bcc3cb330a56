"""What compaction and retention may not take: the last checkpoint, and what a person is asked."""

from __future__ import annotations

from pathlib import Path

from tests.agent.dying import log_of, prepare
from tests.agent.dying import say as shop
from tests.agent.kit import World, graph_of, world
from wakeful.events import Done, Parked
from wakeful.store import RetentionPolicy, Session

DAY = 86_400_000  # ms
NOTHING_STAYS = RetentionPolicy(payloads=0, identities=0, sent=0, effects=0, messages=0, steps=0)


async def rows(w: World) -> int:
    def count(s: Session) -> int:
        query = "SELECT (SELECT count(*) FROM checkpoints) + (SELECT count(*) FROM writes)"
        return int(s.raw.execute(query).fetchone()[0])

    found: int = await w.store.run(count)
    return found


async def test_D10_an_approval_outlives_compaction_and_retention(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    async with world(folder, shop) as w:
        for _ in range(20):
            assert isinstance(await w.turn("charge"), Done)
        parked = await w.turn("refund")
        assert isinstance(parked, Parked)
        assert not await w.agent.compact(await graph_of(w))
        await w.store.retain(NOTHING_STAYS, 1_800_000_000_000 + 1000 * DAY)
    async with world(folder, shop) as w:  # a new process has nothing in memory
        (wait,) = parked.waits
        await w.decide(wait.id, "approve", digest=wait.digest)
        assert "refunded" in (await w.work()).replies[0].text
    assert log_of(folder).count("refund A-1") == 1


async def test_D10_a_thread_of_many_turns_keeps_few_rows_and_its_memory(tmp_path: Path) -> None:
    folder, most = prepare(tmp_path), 0
    async with world(folder, shop) as w:
        for _ in range(60):
            await w.turn("charge")
            most = max(most, await rows(w))
        await w.agent.compact(await graph_of(w))
        await w.store.retain(NOTHING_STAYS, 1_800_000_000_000 + 1000 * DAY)
        left = await rows(w)
    assert left < most / 10
    assert most < 16 * 15  # what the turns between two compactions leave
    async with world(folder, shop) as w:
        await w.turn("charge")
        asked = [m for m in w.model.asked[-1] if m.text == "charge"]
        assert len(asked) > 10  # the newest turns; older ones are in the summary
