"""Ten thousand turns: the file stays small, and what still counts stays in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from tests.store.conftest import HandClock, answer, event, question
from wakeful.events import Claim, Decision, Done, Parked, Receipt
from wakeful.store import RetentionPolicy, Session, Store, open_store

DAY = 86_400  # seconds
DAYS, LANES, ROUNDS = 20, 50, 10  # so 500 turns a day
POLICY = RetentionPolicy(payloads=1, identities=3, sent=1, effects=1, messages=3, steps=1)
ROOM = 1.15


async def all_of(work: Callable[[Claim], Awaitable[object]], claims: Iterable[Claim]) -> None:
    await asyncio.gather(*[work(claim) for claim in claims])


async def turns(store: Store, names: list[tuple[str, str]]) -> None:
    """One turn on each of some threads, side by side: event, tool call, checkpoint, answer."""

    async def one(claim: Claim) -> None:
        key = str(claim.seq)
        await store.begin_effect(
            thread_key=claim.thread_key,
            fence=claim.fence,
            key=key,
            event_seq=claim.seq,
            tool="t",
            digest="d",
        )
        await store.end_effect(key, "done", "x" * 300)
        await store.run(_checkpoint(claim.graph_id, key), durable=False)
        await store.finish(claim, Done(replies=(answer("y" * 300),)))

    await asyncio.gather(*[store.accept(event(name, thread)) for name, thread in names])
    await all_of(one, await store.claim(len(names)))
    replies = await store.take_replies(len(names))
    await asyncio.gather(*[store.sent(reply, Receipt("id")) for reply in replies])


def _checkpoint(graph: str, id: str) -> Callable[[Session], None]:
    """What compaction leaves of a thread: its newest checkpoint."""

    def put(s: Session) -> None:
        s.raw.execute("DELETE FROM checkpoints WHERE thread_id = ?", (graph,))
        s.raw.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (?, ?, ?)",
            (graph, id, b"state" * 400),
        )

    return put


async def test_D10_ten_thousand_turns_leave_a_bounded_file_and_all_that_still_counts(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    sizes: list[int] = []
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(event("may I?", "console/asks"))
        [asking] = await store.claim(1)
        await store.run(_checkpoint(asking.graph_id, "asked"))
        await store.park(asking, Parked(waits=(question("w1"),)))
        for day in range(DAYS):
            for number in range(ROUNDS):
                lanes = [(f"{day}/{number}/{n}", f"console/{n}") for n in range(LANES)]
                await turns(store, lanes)
            clock.move(DAY)
            await store.retain(POLICY, clock.now())
            sizes.append((tmp_path / "state.db").stat().st_size)
        [(seqs,)] = await store.run(
            lambda s: s.raw.execute("SELECT max(seq) FROM inbox").fetchall()
        )
        assert seqs >= DAYS * ROUNDS * LANES
        assert max(sizes[-5:]) <= ROOM * max(sizes[4:9])  # the fifth day has as much as the last
        kept = await store.run(_kept)
        assert kept == {"asked": 1, **{f"console/{n}": 1 for n in range(LANES)}}
        clock.move(10 * DAY)
        await store.retain(POLICY, clock.now())
        assert (tmp_path / "state.db").stat().st_size < 0.5 * sizes[-1]
        yes = Decision(verdict="approve", by="console:operator", digest="d1")
        await store.decide("w1", yes, key="console/decision/w1")
        [claim] = await store.claim(1)
        assert (claim.event.text, claim.decisions) == ("may I?", {"w1": yes})


def _kept(s: Session) -> dict[str, int]:
    """How many checkpoints each thread has; the one that asks by its checkpoint's name."""
    rows = s.raw.execute(
        """
        SELECT CASE checkpoint_id WHEN 'asked' THEN 'asked' ELSE thread_key END AS name, count(*)
        FROM checkpoints JOIN thread ON graph_id = thread_id GROUP BY name
        """
    )
    return {row[0]: row[1] for row in rows}
