"""SIGTERM under load, and two daemons on one folder."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from time import monotonic

from tests.acceptance.daemon import Daemon, free_port
from tests.acceptance.stage import Stage

STOPPED_WITHIN = 30.0  # seconds
TIMES = max(4, int(os.environ.get("WAKEFUL_KILLS", "0")) // 10)  # 20 in `make soak`
UNAVAILABLE = 5  # exit code: it runs where it must not


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_for(stage: Stage, query: str, within: float = 30) -> None:
    end, tick = monotonic() + within, threading.Event()
    while not stage.rows(query)[0][0]:
        assert monotonic() < end, stage.daemon.log[-3000:]
        tick.wait(0.02)


def test_D4_sigterm_closes_the_port_first_and_resumes_the_rest(tmp_path: Path) -> None:
    """Model calls of three seconds are running: the port closes long before the process ends."""
    with Stage(tmp_path) as stage:
        stage.daemon.start()
        with stage.daemon.client() as client:
            events = [
                client.post("/api/messages", json={"thread": f"console/s{n}", "text": f"slow {n}"})
                for n in range(12)  # more than run side by side
            ]
            numbers = [int(answer.json()["event"]) for answer in events]
        _wait_for(stage, "SELECT count(*) >= 8 FROM thread WHERE state = 'running'")
        process = stage.daemon.process
        assert process is not None
        process.terminate()
        begin, tick = monotonic(), threading.Event()
        while _listens(stage.daemon.port):
            assert monotonic() - begin < STOPPED_WITHIN
            tick.wait(0.01)
        closed_while_alive = process.poll() is None
        assert process.wait(STOPPED_WITHIN) == 0
        assert closed_while_alive, "the port was still open when the process ended"
        stage.daemon.start()
        stage.drain()
        for number, event in enumerate(numbers):
            said = stage.daemon.get(f"/api/events/{event}")
            assert (said["state"], said["reply"]) == ("done", f"done {number}")
        charges = stage.ledger.read_text().splitlines()
        assert sorted(charges) == sorted(f"charge {n} a" for n in range(12))


def test_D11_terminated_under_load_many_times_the_store_stays_whole(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.daemon.start()
        stage.start_load(seed=11, console=False)
        pause = threading.Event()
        for _ in range(TIMES):
            pause.wait(1.0)
            assert stage.daemon.terminate() == 0
            stage.daemon.start()
        stage.stop_load()
        stage.drain()
        stage.reckon()
        assert stage.rows("PRAGMA integrity_check") == [("ok",)]


def test_C27_a_second_daemon_on_the_same_folder_refuses_with_a_sentence(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.daemon.start()
        log = len(stage.daemon.log)
        second = Daemon(stage.folder, free_port(), env=stage.env())
        second.start(ready=False)
        assert second.process is not None
        assert second.process.wait(60) == UNAVAILABLE
        said = stage.daemon.log[log:]
        assert "another daemon" in said.lower()
        assert "Traceback" not in said
        assert stage.daemon.alive()
        assert stage.daemon.get("/api/status")


def test_P15_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        daemon = Daemon(stage.folder, port, env=stage.env())
        daemon.start(ready=False)
        assert daemon.process is not None
        assert daemon.process.wait(60) != 0
        assert str(port) in daemon.log
        assert "Traceback" not in daemon.log


def test_P15_too_few_file_descriptors_is_a_sentence(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        wrap = ("sh", "-c", 'ulimit -n 40 && exec "$@"', "sh")
        daemon = Daemon(stage.folder, free_port(), env=stage.env(), wrap=wrap)
        daemon.start(ready=False)
        assert daemon.process is not None
        assert daemon.process.wait(60) != 0
        assert "ulimit" in daemon.log or "open files" in daemon.log
        assert "Traceback" not in daemon.log


def test_a_clock_set_back_changes_neither_order_nor_delivery(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.daemon.start()
        with stage.daemon.client() as client:
            first = client.post(
                "/api/messages", json={"thread": "console/a", "text": "slow 1"}
            ).json()
            client.post("/api/messages", json={"thread": "console/a", "text": "plain 2"})
        stage.daemon.kill()
        stage.daemon.env["WAKEFUL_TEST_CLOCK"] = "-86400"  # a day back
        stage.daemon.start()
        with stage.daemon.client() as client:
            third = client.post(
                "/api/messages", json={"thread": "console/a", "text": "plain 3"}
            ).json()
        assert third["event"] > first["event"]
        stage.drain()
        messages = stage.daemon.get("/api/thread?key=console/a")["messages"]
        said = [m["text"] for m in messages if m["role"] == "assistant"]
        assert said == ["done 1", "done 2", "done 3"]
