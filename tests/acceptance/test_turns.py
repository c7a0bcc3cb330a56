"""One turn at a time in the real process: killed where it hurts, answered once, in its place."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from itertools import count
from time import monotonic
from typing import Any

import httpx
import pytest

from tests.acceptance.load import delivery
from tests.acceptance.stage import Stage

WITHIN = 60.0  # seconds
NUMBERS = count(1)
KILLED_AT = (
    "store.claim:after#1",  # acknowledged, nothing done
    "model._agenerate:before#1",  # inside the first call of the model
    "store.end_effect:before#1",  # the tool has done it, and nobody knows
    "store.end_effect:after#1",  # after the tool
    "model._agenerate:before#3",  # a step later
    "store.finish:before#1",  # the answer is there, and not posted
    "store.finish:after#1",  # on its way
    "store.sent:before#1",  # it has arrived, and nobody knows
)
SCHEDULE = """---
cron: "0 0 1 1 *"
deliver: "sink:reports"
---
slow 900001
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("turns") / "root") as stage:
        (stage.folder / "schedules").mkdir()
        (stage.folder / "schedules" / "yearly.md").write_text(SCHEDULE)
        yield stage


@pytest.fixture
def stage(folder: Stage) -> Stage:
    """One folder for all; what a failed test has left behind is not the next one's fault."""
    if not folder.daemon.alive():
        folder.daemon.start()
    folder.drain()
    return folder


class Turn:
    """One order by webhook and one by the console at the same time, each sent until taken."""

    def __init__(self, stage: Stage, kind: str = "load") -> None:
        self.stage, self.kind = stage, kind
        self.hooked, self.typed = next(NUMBERS), next(NUMBERS)
        self.acked: set[int] = set()
        self.event = 0  # of the one that was typed

    def send(self) -> None:
        """As a sender does: what was not acknowledged is sent again, with the same id."""
        for number, send in ((self.hooked, self._hook), (self.typed, self._type)):
            if number not in self.acked:
                try:
                    send()
                except httpx.TransportError:
                    continue
                self.acked.add(number)

    def _hook(self) -> None:
        body, headers = delivery(self.kind, self.hooked, f"t{self.hooked}")
        url = f"{self.stage.daemon.url}/hooks/load"
        httpx.post(url, content=body, headers=headers, trust_env=False).raise_for_status()

    def _type(self) -> None:
        text, id = f"{self.kind} {self.typed}", f"typed-{self.typed}"
        body = {"thread": f"console/c{self.typed}", "text": text, "id": id}
        with self.stage.daemon.client() as client:
            self.event = int(
                client.post("/api/messages", json=body).raise_for_status().json()["event"]
            )

    def sunk(self) -> list[dict[str, Any]]:
        return [one for one in self.stage.sink.messages if one["text"] == f"done {self.hooked}"]

    def answers(self) -> list[str]:
        found = self.stage.daemon.get(f"/api/thread?key=console/c{self.typed}")["messages"]
        return [one["text"] for one in found if one["role"] == "assistant"]


def wait_for(stage: Stage, query: str) -> None:
    end, tick = monotonic() + WITHIN, threading.Event()
    while not stage.rows(query)[0][0]:
        assert monotonic() < end, stage.daemon.log[-3000:]
        tick.wait(0.02)


def restart(stage: Stage) -> None:
    stage.daemon.kill()
    stage.daemon.start()


def charges(stage: Stage, number: int) -> list[str]:
    return [
        line for line in stage.ledger.read_text().splitlines() if line.split()[1] == str(number)
    ]


@pytest.mark.parametrize("point", KILLED_AT)
def test_D1_D2_killed_anywhere_a_turn_is_answered_once_and_where_it_was_asked(
    stage: Stage, point: str
) -> None:
    turn, before = Turn(stage), len(stage.sink.messages)
    stage.daemon.arm(point)
    turn.send()
    assert stage.daemon.died_within(WITHIN), f"{point} was never reached"
    stage.daemon.start()
    turn.send()
    assert turn.acked == {turn.hooked, turn.typed}
    stage.drain()
    [told] = stage.sink.messages[before:]
    assert (told["text"], told["kind"]) == (f"done {turn.hooked}", "answer")
    assert (told["address"], told["thread"]) == ("sink:ledger", f"webhook/load/t{turn.hooked}")
    assert turn.answers() == [f"done {turn.typed}"]
    sent = f"SELECT address, state FROM outbox WHERE event_seq = {turn.event}"
    assert stage.rows(sent) == [(f"console:c{turn.typed}", "sent")]
    for number in (turn.hooked, turn.typed):
        done = charges(stage, number)
        assert len(set(done)) == len(done) > 0


def test_D2_what_was_said_after_a_kill_is_what_the_model_believes_it_said(stage: Stage) -> None:
    turn = Turn(stage)
    stage.daemon.arm("store.finish:before#1")
    turn.send()
    assert stage.daemon.died_within(WITHIN)
    stage.daemon.start()
    turn.send()
    stage.drain()
    said = ask(stage, f"console/c{turn.typed}", "what did I say before?")
    assert said == f"You said: load {turn.typed}"
    assert turn.answers() == [f"done {turn.typed}", said]


def ask(stage: Stage, thread: str, text: str) -> str:
    with stage.daemon.client() as client:
        sent = client.post("/api/messages", json={"thread": thread, "text": text})
        stage.drain()
        return str(client.get(f"/api/events/{sent.json()['event']}").json()["reply"])


def test_D23_a_conversation_goes_on_where_a_kill_stopped_it(stage: Stage) -> None:
    assert ask(stage, "console/memory", "plain 77") == "done 77"
    restart(stage)
    assert ask(stage, "console/memory", "what did I say before?") == "You said: plain 77"


def test_D5_what_waits_for_a_person_goes_on_after_a_kill(stage: Stage) -> None:
    turn = Turn(stage, "ask")
    turn.send()
    wait_for(stage, "SELECT count(*) = 2 FROM wait WHERE state = 'open'")
    restart(stage)
    with stage.daemon.client() as client:
        assert client.get(f"/api/events/{turn.event}").json()["state"] == "waiting"
        for wait in client.get("/api/waits").json()["waits"]:
            decision = {"decision": "approve", "digest": wait["digest"]}
            assert client.post(f"/api/waits/{wait['id']}", json=decision).status_code == 200
    stage.drain()
    assert len(turn.sunk()) == 1
    assert turn.answers()[-1:] == [f"done {turn.typed}"]
    assert charges(stage, turn.typed) == [f"charge {turn.typed} a", f"refund {turn.typed}"]


def test_C4_a_schedule_that_is_killed_in_its_run_is_taken_up_again_and_delivered_once(
    stage: Stage,
) -> None:
    with stage.daemon.client() as client:
        assert client.post("/api/schedules/yearly/run").status_code == 202
    begun = "SELECT count(*) FROM thread WHERE thread_key = 'schedule/yearly' AND state = 'running'"
    wait_for(stage, begun)
    stage.daemon.kill()
    assert stage.rows("SELECT state FROM firing WHERE name = 'yearly'") == [("running",)]
    stage.daemon.start()
    stage.drain()
    states = "SELECT state, delivery FROM firing WHERE name = 'yearly'"
    assert stage.rows(states) == [("done", "sent")]
    told = [one for one in stage.sink.messages if one["address"] == "sink:reports"]
    assert [one["text"] for one in told] == ["done 900001"]
    assert charges(stage, 900001) == ["charge 900001 a"]


def test_W6_a_sender_gets_its_202_at_once_and_may_go_while_the_model_thinks(stage: Stage) -> None:
    number = next(NUMBERS)
    body, headers = delivery("slow", number, "w6")
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    place = ("127.0.0.1", stage.daemon.port)
    with socket.create_connection(place, timeout=2.0) as sender:  # the model takes 3 s
        request = (
            f"POST /hooks/load HTTP/1.1\r\nHost: hooks\r\nContent-Length: {len(body)}\r\n{head}\r\n"
        )
        sender.sendall(request.encode() + body)
        assert sender.recv(12) == b"HTTP/1.1 202"
        assert not [one for one in stage.sink.messages if one["text"] == f"done {number}"]
    stage.drain()
    assert len([one for one in stage.sink.messages if one["text"] == f"done {number}"]) == 1
    assert charges(stage, number) == [f"charge {number} a"]
