"""D10: the store stays as large as what is still needed; what waits is never pruned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.store.conftest import HandClock, answer, event, question
from wakeful.events import Decision, Done, Outgoing, Parked, Receipt
from wakeful.store import RetentionPolicy, Session, Store, open_store

POLICY = RetentionPolicy(payloads=5, identities=20, sent=5, effects=5, messages=30, steps=5)
DAY = 86_400  # seconds


def size(folder: Path) -> int:
    return (folder / "state.db").stat().st_size


async def turn(store: Store, name: str, thread: str = "console/a") -> None:
    await store.accept(event(name, thread))
    for claim in await store.claim(8):
        key = f"{claim.seq}"
        await store.begin_effect(
            thread_key=thread, fence=claim.fence, key=key, event_seq=claim.seq, tool="t", digest="d"
        )
        await store.end_effect(key, "done", "x" * 500)
        await store.finish(claim, Done(replies=(answer("y" * 500),)))
    for reply in await store.take_replies(8):
        await store.sent(reply, Receipt("id"))


async def parked(store: Store, thread: str) -> int:
    accepted = await store.accept(event(thread, thread))
    [claim] = await store.claim(1)
    await store.park(claim, Parked(waits=(question(f"w-{thread}"),)))
    [card] = await store.take_replies(8)
    await store.sent(card, Receipt("id"))
    return accepted.seq


async def test_what_ended_long_ago_is_forgotten_step_by_step(
    store: Store, clock: HandClock
) -> None:
    await turn(store, "1")
    clock.move(6 * DAY)
    counts = await store.retain(POLICY, clock.now())
    assert (counts["payloads"], counts["replies"], counts["effects"]) == (1, 1, 1)
    shown = await store.event(1)
    assert shown is not None
    assert (shown["state"], shown["reply"]) == ("done", "y" * 500)  # the messages still have it
    assert (await store.input_of(1) or event("x")).text == ""
    assert (await store.accept(event("1"))).duplicate  # its name is remembered longer
    clock.move(15 * DAY)
    counts = await store.retain(POLICY, clock.now())
    assert (counts["identities"], counts["events"]) == (1, 1)
    assert not (await store.accept(event("1"))).duplicate


async def test_D10_what_waits_is_never_pruned(store: Store, clock: HandClock) -> None:
    waiting = await parked(store, "console/w")
    await store.accept(event("queued", "console/w"))
    out = Outgoing(ordinal="send/1", address="console:b", text="unsent", kind="message")
    await store.post(out, event_seq=waiting, thread_key="console/w")
    clock.move(1000 * DAY)
    await store.retain(POLICY, clock.now())
    wait_id = "w-console/w"
    assert [wait.request.id for wait in await store.view.waits()] == [wait_id]
    decision = Decision(verdict="approve", by="console:operator", digest="d1")
    await store.decide(wait_id, decision, key="console/decision/1")
    [claim] = await store.claim(1)
    assert (claim.seq, claim.event.text) == (waiting, "console/w")
    assert claim.decisions == {wait_id: decision}
    await store.finish(claim, Done(silent="x"))
    assert [claim.event.text for claim in await store.claim(1)] == ["queued"]
    assert [reply.text for reply in await store.take_replies(8)] == [
        "unsent",
        "Refund A-1001? Approved by console:operator.",
    ]


async def test_D10_a_lost_reply_that_nobody_came_back_for_is_forgotten_in_the_end(
    store: Store, clock: HandClock
) -> None:
    await store.accept(event("1"))
    [claim] = await store.claim(1)
    await store.finish(claim, Done(replies=(answer("lost"),)))
    [reply] = await store.take_replies(8)
    await store.undeliverable(reply, "gone")
    clock.move((POLICY.messages - 1) * DAY)
    assert (await store.retain(POLICY, clock.now()))["untold"] == 0
    clock.move(2 * DAY)
    assert (await store.retain(POLICY, clock.now()))["untold"] == 1
    assert await store.run(lambda s: s.raw.execute("SELECT notes FROM thread").fetchone()[0]) == 0
    await store.accept(event("2"))
    [claim] = await store.claim(1)
    assert claim.undelivered == ()


async def test_a_lost_notice_about_no_thread_is_not_kept_for_one(
    store: Store, clock: HandClock
) -> None:
    notice = answer("the pager is down", ordinal="alert/pager/0")
    assert await store.announce(event("1", "channel/pager"), "down", notice)
    [reply] = await store.take_replies(8)
    await store.undeliverable(reply, "down too")
    clock.move((POLICY.sent + 1) * DAY)
    assert (await store.retain(POLICY, clock.now()))["replies"] == 1


async def test_D10_a_checkpoint_of_a_thread_that_sleeps_is_never_pruned(
    sqlite_url: str, clock: HandClock
) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:

        def put(s: Session) -> None:
            s.raw.execute(
                "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (?, ?, ?)",
                ("console/a", "c1", b"state"),
            )

        await turn(store, "1")
        await store.run(put)
        clock.move(1000 * DAY)
        await store.retain(POLICY, clock.now())
        left = await store.run(lambda s: s.raw.execute("SELECT * FROM checkpoints").fetchall())
        assert len(left) == 1
        assert (await store.view.thread("console/a") or {})["graph"] == "console/a"


async def test_D10_the_file_shrinks_and_stays_bounded(
    sqlite_url: str, tmp_path: Path, clock: HandClock
) -> None:
    policy = RetentionPolicy(payloads=1, identities=2, sent=1, effects=1, messages=2, steps=1)
    sizes = []
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        for day in range(8):
            for n in range(60):
                await turn(store, f"{day}/{n}")
            clock.move(DAY)
            await store.retain(policy, clock.now())
            sizes.append(size(tmp_path))
        clock.move(10 * DAY)
        await store.retain(policy, clock.now())
        left = size(tmp_path)
    assert max(sizes[4:]) <= 1.1 * max(sizes[2:4])
    assert left < 0.7 * sizes[-1]
    assert size(tmp_path) == left


async def test_the_checkpoints_of_a_thread_begun_anew_are_forgotten(
    sqlite_url: str, clock: HandClock
) -> None:
    async with open_store(sqlite_url, clock=clock, owner="test") as store:
        await store.accept(replace(event("1"), fresh=True))
        [claim] = await store.claim(1)

        def save(s: Session) -> None:
            for graph in ("console/a#0", claim.graph_id):
                s.raw.execute(
                    "INSERT INTO checkpoints (thread_id, checkpoint_id) VALUES (?, ?)",
                    (graph, "c1"),
                )

        await store.run(save)
        counts = await store.retain(POLICY, 0)
        assert counts["checkpoints"] == 1
        left = await store.run(lambda s: s.raw.execute("SELECT * FROM checkpoints").fetchall())
        assert [row[0] for row in left] == [claim.graph_id]


async def test_the_newest_firing_stays(store: Store, clock: HandClock) -> None:
    for due in (1, 2, 3):
        fired = event(str(due), "schedule/s", source="schedule", kind="firing")
        assert await store.fire_now("s", due, fired) is not None
        [claim] = await store.claim(1)
        await store.finish(claim, Done(silent="nothing"))
    clock.move(100 * DAY)
    assert (await store.retain(POLICY, clock.now()))["firings"] == 2
    assert [one.due_at for one in await store.firings("s")] == [3]
