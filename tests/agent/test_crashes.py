"""Every row of the crash table, with a real SIGKILL and a new process on the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.dying import killed, log_of, prepare, say
from tests.agent.kit import World, world
from wakeful.events import Done, Parked


@pytest.mark.parametrize("text", ["charge", "clerk charge"])
async def test_D6_a_call_that_was_cut_off_is_told_and_never_repeated(
    tmp_path: Path, text: str
) -> None:
    folder = prepare(tmp_path)
    killed(folder, text, "charge")
    async with world(folder, say) as w:
        done = await w.work()
        assert "OUTCOME UNKNOWN" in done.replies[0].text
        assert log_of(folder) == ["charge A-1"]
        assert await w.effects() == [("charge", "unknown")]
        assert "charged" in (await w.turn("charge")).replies[0].text  # the thread still works


async def test_killed_between_interrupt_and_park_it_parks_again(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    killed(folder, "refund", "before-commit")
    async with world(folder, say) as w:
        parked = await w.work()
        assert isinstance(parked, Parked)
        assert log_of(folder) == []
        (wait,) = parked.waits
        await w.decide(wait.id, "approve", digest=wait.digest)
        assert (await w.work()).replies[0].text == "result: refunded A-1"
        assert log_of(folder) == ["refund A-1"]


async def test_killed_after_the_last_checkpoint_the_answer_is_taken_from_the_state(
    tmp_path: Path,
) -> None:
    folder = prepare(tmp_path)
    killed(folder, "charge", "before-commit")
    async with world(folder, say) as w:
        done = await w.work()
        assert isinstance(done, Done)
        assert done.replies[0].text == "result: charged A-1"
        assert w.model.asked == []
        assert log_of(folder) == ["charge A-1"]


async def test_killed_in_the_second_model_call_no_tool_runs_again(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    killed(folder, "charge", "second-model-call")
    async with world(folder, say) as w:
        assert (await w.work()).replies[0].text == "result: charged A-1"
        assert len(w.model.asked) == 1
        assert log_of(folder) == ["charge A-1"]


async def test_killed_in_an_approved_call_nobody_is_asked_twice(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    async with world(folder, say) as w:
        (wait,) = (await w.turn("refund")).waits
        await w.decide(wait.id, "approve", digest=wait.digest)
    killed(folder, "", "refund")
    async with world(folder, say) as w:
        done = await w.work()
        assert isinstance(done, Done)
        assert "OUTCOME UNKNOWN" in done.replies[0].text
        assert done.applied == (wait.id,)
        assert log_of(folder) == ["refund A-1"]


async def test_a_decided_wait_whose_question_is_gone_is_applied_and_never_sent(
    tmp_path: Path,
) -> None:
    folder = prepare(tmp_path)
    async with world(folder, say) as w:
        (wait,) = (await w.turn("refund")).waits
        await w.decide(wait.id, "approve", digest=wait.digest)
    killed(folder, "", "before-commit")
    async with world(folder, say) as w:
        done = await w.work()
        assert done.replies[0].text == "result: refunded A-1"
        assert done.applied == (wait.id,)
        assert w.model.asked == []


@pytest.mark.parametrize(
    ("verdict", "more", "said", "ran"),
    [
        ("approve", {}, "refunded A-1", ["refund A-1"]),
        ("edit", {"args": {"order": "B-2"}}, "refunded B-2", ["refund B-2"]),
        ("reject", {"reason": "not today"}, "not today", []),
    ],
)
@pytest.mark.parametrize("restart", [False, True])
async def test_A11_A13_a_gate_in_a_sub_agent_asks_and_obeys(
    tmp_path: Path, verdict: str, more: dict[str, object], said: str, ran: list[str], restart: bool
) -> None:
    folder = prepare(tmp_path)
    async with world(folder, say) as w:
        parked = await w.turn("clerk refund")
        assert isinstance(parked, Parked)
        (wait,) = parked.waits
        assert (wait.agent, wait.tool, log_of(folder)) == ("clerk", "refund", [])
        if not restart:
            await w.decide(wait.id, verdict, digest=wait.digest, **more)
            assert said in (await w.work()).replies[0].text
    if restart:
        async with world(folder, say) as w:
            await w.decide(wait.id, verdict, digest=wait.digest, **more)
            assert said in (await w.work()).replies[0].text
    assert log_of(folder) == ran


async def test_a_run_that_gets_further_after_crashes_is_not_what_killed_the_daemon(
    tmp_path: Path,
) -> None:
    """A step that is stored wipes out the crashes; a claim that stores none adds to them."""

    async def crashes(w: World) -> int:
        query = "SELECT crashes FROM thread WHERE thread_key = 'console/a'"
        row = await w.store.db.run(lambda s: s.raw.execute(query).fetchone())
        return int(row[0])

    folder = prepare(tmp_path)
    killed(folder, "charge", "charge")  # in the tool, after two steps
    async with world(folder, say) as w:
        assert await crashes(w) == 1
        await w.claim()  # and dies again, before any step
    async with world(folder, say) as w:
        assert await crashes(w) == 2
        claim = await w.claim()
        assert claim.crashes == 2
        assert isinstance(await w.run(claim), Done)  # and dies again, before it is recorded
        assert await crashes(w) == 0
    async with world(folder, say) as w:
        assert (await w.claim()).crashes == 1
