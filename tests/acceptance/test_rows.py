"""Rows of the crash table that need a hand: poison, decided-but-gone waits, merged events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from tests.acceptance.stage import Stage

WITHIN = 60.0  # seconds
CRASHES = 5  # after which an event is given up


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as stage:
        yield stage


def post(stage: Stage, thread: str, text: str) -> int:
    with stage.daemon.client() as client:
        body = {"thread": f"console/{thread}", "text": text}
        return int(client.post("/api/messages", json=body).raise_for_status().json()["event"])


def event(stage: Stage, seq: int) -> dict[str, Any]:
    found: dict[str, Any] = stage.daemon.get(f"/api/events/{seq}")
    return found


def until(stage: Stage, query: str) -> None:
    end, tick = monotonic() + WITHIN, threading.Event()
    while not stage.rows(query)[0][0]:
        assert monotonic() < end, stage.daemon.log[-3000:]
        tick.wait(0.02)


def test_a_poison_event_is_given_up_with_a_notice_and_takes_nobody_with_it(stage: Stage) -> None:
    stage.daemon.start()
    events = [post(stage, f"n{n}", f"slow {n}") for n in range(4)]
    before = post(stage, "p", "slow 65")
    poison = post(stage, "p", "poison 66")
    behind = post(stage, "p", "plain 67")
    lives = 1
    while stage.daemon.died_within(12):
        stage.daemon.start(ready=False)
        lives += 1
    stage.daemon.wait_ready()
    stage.drain()
    assert lives == CRASHES + 1
    assert stage.ledger.read_text().splitlines().count("poison 66") == CRASHES
    assert event(stage, poison)["state"] == "failed"
    assert f"replay {poison}" in event(stage, poison)["reply"]
    assert (event(stage, behind)["state"], event(stage, behind)["reply"]) == ("done", "done 67")
    assert event(stage, before)["reply"] == "done 65"
    for number, seq in enumerate(events):
        assert event(stage, seq)["reply"] == f"done {number}"


@pytest.mark.parametrize("point", ["store.finish:before#1", "store.end_effect:after#1"])
def test_a_decided_wait_whose_question_is_gone_is_never_asked_or_used_again(
    stage: Stage, point: str
) -> None:
    """Killed after the resumed run used the decision: it pays once, and asks once."""
    stage.daemon.start()
    seq = post(stage, "a", "ask 7")
    until(stage, "SELECT count(*) FROM wait WHERE state = 'open'")
    [wait] = stage.daemon.get("/api/waits")["waits"]
    stage.daemon.arm(point)
    with stage.daemon.client() as client:
        body = {"decision": "approve", "digest": wait["digest"]}
        assert client.post(f"/api/waits/{wait['id']}", json=body).status_code == 200
    assert stage.daemon.died_within(WITHIN)
    assert stage.rows("SELECT state FROM wait") == [("decided",)]
    stage.daemon.start()
    stage.drain()
    assert event(stage, seq)["reply"] == "done 7"
    assert stage.rows("SELECT state FROM wait") == [("applied",)]
    assert stage.ledger.read_text().splitlines().count("refund 7") == 1
    asked = "SELECT count(*) FROM outbox WHERE ordinal LIKE 'ask:%'"
    assert stage.rows(asked) == [(1,)]


MERGED = ("store.merge:before#1", "store.merge:after#1", "store.finish:before#2")


@pytest.mark.parametrize("point", MERGED)
def test_a_merged_event_killed_anywhere_is_heard_once_and_closed(stage: Stage, point: str) -> None:
    stage.daemon.env["WAKEFUL_TEST_MERGE"] = "yes"
    stage.daemon.start()
    first = post(stage, "m", "slow 1")
    until(stage, "SELECT count(*) FROM thread WHERE state = 'running'")
    waiting = [post(stage, "m", f"plain {n}") for n in (2, 3, 4)]
    stage.daemon.arm(point)
    assert stage.daemon.died_within(WITHIN), f"{point} was never reached"
    stage.daemon.start()
    stage.drain()
    assert event(stage, first)["reply"] == "done 1"
    head, *joined = waiting
    assert event(stage, first)["reply"] == "done 1"
    assert (event(stage, head)["state"], event(stage, head)["reply"]) == ("done", "done 4")
    for seq in joined:
        said = event(stage, seq)
        assert (said["state"], said["merged_into"]) == ("merged", head)
    assert heard(stage, "console/m") == ["slow 1", "plain 2", "plain 3", "plain 4"]


def heard(stage: Stage, thread: str) -> list[str]:
    """What people said in the graph's thread, each id once, as LangGraph's own saver reads it."""
    [(graph_id,)] = stage.rows(f"SELECT graph_id FROM thread WHERE thread_key = '{thread}'")

    async def read() -> list[str]:
        path = str(stage.folder / ".wakeful" / "state.db")
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            config: RunnableConfig = {"configurable": {"thread_id": graph_id, "checkpoint_ns": ""}}
            history = await saver.aget_delta_channel_history(
                config=config,
                channels=["messages"],
            )
            found = history["messages"]
            values = [*found.get("seed", []), *(value for *_, value in found["writes"])]
            return list(_by_id(values).values())

    return asyncio.run(read())


def _by_id(values: list[Any]) -> dict[str, str]:
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return {str(one.id): one.text for one in flat if isinstance(one, HumanMessage)}
