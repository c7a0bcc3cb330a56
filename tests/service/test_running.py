"""`wakeful run` as a process: signals, exit codes, and what is on disk afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import httpx
import pytest

from wakeful.cli import exits

PATIENCE = 60.0  # seconds


class Process:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "wakeful", "run", str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.lines: list[str] = []
        self._fresh = threading.Condition()
        self._threads = [
            threading.Thread(target=self._read, args=(pipe,), daemon=True)
            for pipe in (self.popen.stdout, self.popen.stderr)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, pipe: Iterator[str]) -> None:
        for line in pipe:
            with self._fresh:
                self.lines.append(line)
                self._fresh.notify_all()

    def said(self, pattern: str) -> re.Match[str]:
        """Wait for a line that matches."""
        end = monotonic() + PATIENCE
        with self._fresh:
            while True:
                for line in self.lines:
                    if found := re.search(pattern, line):
                        return found
                assert self._fresh.wait(max(0.0, end - monotonic())), "".join(self.lines)

    def client(self) -> httpx.Client:
        url = self.said(r"awake at (http://\S+)")[1]
        token = (self.folder / ".wakeful" / "token").read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=30)

    def ends(self, *signals: signal.Signals) -> int:
        for each in signals:
            self.popen.send_signal(each)
        return self.popen.wait(PATIENCE)

    def close(self) -> None:
        self.popen.kill()
        self.popen.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self.popen.stdout, self.popen.stderr):
            assert pipe is not None
            pipe.close()


@contextmanager
def process(folder: Path) -> Iterator[Process]:
    one = Process(folder)
    try:
        yield one
    finally:
        one.close()


def send(client: httpx.Client, text: str) -> int:
    return int(client.post("/api/messages", json={"text": text}).json()["event"])


def answer(client: httpx.Client, seq: int) -> str:
    """Follow the stream to its end, then say what the reply is."""
    with client.stream("GET", f"/api/events/{seq}/stream") as stream:
        for _ in stream.iter_lines():
            pass
    return str(client.get(f"/api/events/{seq}").json()["reply"])


def running(client: httpx.Client, seq: int) -> None:
    """Wait until the event runs: its stream says so."""
    with client.stream("GET", f"/api/events/{seq}/stream") as stream:
        for line in stream.iter_lines():
            if '"running"' in line:
                return


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_D4_a_signal_lets_the_running_step_end_and_the_rest_resumes(
    agent: Path, number: signal.Signals
) -> None:
    with process(agent) as first, first.client() as client:
        seq = send(client, "slow 1")
        running(client, seq)
        assert first.ends(number) == 0
        with pytest.raises(httpx.TransportError):
            client.get("/health")
    with process(agent) as second, second.client() as client:
        assert answer(client, seq) == "done 1"
        assert second.ends(signal.SIGTERM) == 0
    assert (agent / "marks.txt").read_text() == "step 1\n"


def test_D1_kill_and_restart_answers_once(agent: Path) -> None:
    with process(agent) as first, first.client() as client:
        seq = send(client, "slow 2")
        running(client, seq)
        first.ends(signal.SIGKILL)
    with process(agent) as second, second.client() as client:
        assert answer(client, seq) == "done 2"
        second.said("1 run was cut off by the last end of the daemon")
    assert (agent / "marks.txt").read_text() == "step 2\n"


CLINGING = """
import threading


async def cling(number: int) -> str:
    \"\"\"Begin a thread that never ends.\"\"\"
    threading.Thread(target=threading.Event().wait, name="clinging").start()
    return "begun"
"""


def test_a_thread_that_a_tool_left_behind_does_not_keep_the_process(agent: Path) -> None:
    (agent / "tools" / "clinging.py").write_text(CLINGING)
    script = agent / "rehearsal.toml"
    turn = "[[turn]]\nwhen = 'cling'\nsteps = [{ call = 'cling', args = { number = 1 } }, "
    script.write_text(turn + "{ say = 'clung' }]\n" + script.read_text())
    with process(agent) as one, one.client() as client:
        assert answer(client, send(client, "cling")) == "clung"
        assert one.ends(signal.SIGTERM) == 0
        one.said("it did not end: .*clinging")


def test_what_cannot_start_says_why_in_a_sentence(agent: Path) -> None:
    (agent / "agent.toml").write_text('modell = "rehearsal"\n')
    with process(agent) as one:
        assert one.ends() == exits.FOLDER
        one.said('there is no setting "modell"; did you mean "model"')
        assert not any("Traceback" in line for line in one.lines)


def test_P15_too_few_file_descriptors_are_a_sentence(agent: Path) -> None:
    limited = f"ulimit -n 40 && exec {sys.executable} -m wakeful run {agent}"
    end = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, timeout=PATIENCE)
    assert end.returncode == 1
    assert "may open 40 files" in end.stderr and "Traceback" not in end.stderr


def test_a_signal_while_waking_up_ends_it_in_peace(agent: Path) -> None:
    with process(agent) as one:
        one.said("Listening at")
        assert one.ends(signal.SIGTERM) == 0


def test_the_log_is_in_the_private_folder_without_the_token(agent: Path) -> None:
    with process(agent) as one, one.client() as client:
        assert answer(client, send(client, "hello")) == "heard: hello"
        assert one.ends(signal.SIGTERM) == 0
    log = (agent / ".wakeful" / "logs" / "wakeful.log").read_text()
    token = (agent / ".wakeful" / "token").read_text().strip()
    assert "Awake" in log and "Going to sleep" in log and token not in log
