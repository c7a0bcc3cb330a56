"""`wakeful chat` and `wakeful console` beside a daemon that really runs."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

import httpx

from tests.cli.conftest import Cli, running


def test_a_question_through_a_pipe_is_answered(live: Cli) -> None:
    done = live("chat", stdin="Think about 2027-03-14\n")
    assert done.code == 0 and done.err == ""
    assert "[days_until ...]" in done.out and "days until 2027-03-14." in done.out


def test_a_conversation_goes_on_by_its_name(live: Cli) -> None:
    assert live("chat", "--thread", "console/mine", stdin="hello\n").code == 0
    threads = live("threads", "--json").json
    assert "console/mine" in [row["key"] for row in threads]
    done = live("chat", "--thread", "slack/x", stdin="hello\n")
    assert done.code == 1 and "console/<name>" in done.out


def test_a_wait_is_answered_in_the_chat(live: Cli) -> None:
    done = live("chat", stdin="Please refund A-1001\napprove\n")
    assert "? " in done.out and '"order": "A-1001"' in done.out
    assert "It is done: refunded A-1001." in done.out


def test_a_wait_that_nobody_answers_stays(live: Cli) -> None:
    done = live("chat", stdin="Please refund A-1002\n")
    assert "wakeful approve" in done.out and done.code == 0
    [wait] = [row for row in live("waits", "--json").json if row["args"] == {"order": "A-1002"}]
    assert live("reject", wait["id"]).code == 0


def test_a_subagent_is_seen_at_work(live: Cli) -> None:
    done = live("chat", stdin="think about tea\n")
    assert "[researcher starts]" in done.out and "My researcher says" in done.out


def test_the_console_lets_a_browser_in(live: Cli) -> None:
    done = live("console")
    address, told = done.out.splitlines()
    with httpx.Client(trust_env=False) as browser:
        answer = browser.post(address, data={"code": told.rpartition(" ")[2]})
        assert answer.status_code == 303
        assert browser.get(address.removesuffix("login")).status_code == 200


def test_without_a_daemon_they_say_so(cli: Cli) -> None:
    for command in ("chat", "console"):
        done = cli(command, stdin="hello\n")
        assert done.code == 5 and "wakeful run" in done.err


def test_a_chat_outlives_the_daemon(home: Path) -> None:
    command = [sys.executable, "-m", "wakeful", "chat", str(home)]
    with running(home):
        chat = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert chat.stdin is not None and chat.stdout is not None
        chat.stdin.write("Please refund A-1\n")
        while not (line := chat.stdout.readline()).startswith("? "):
            assert line, "the chat ended"
    with running(home):
        chat.stdin.write("approve\n")
        chat.stdin.close()
        rest = chat.stdout.read()
        assert chat.wait(60) == 0
        assert "It is done: refunded A-1." in rest
    chat.stdout.close()


def test_ctrl_c_stops_at_the_prompt(live: Cli) -> None:
    command = [sys.executable, "-m", "wakeful", "chat"]
    with subprocess.Popen(
        command, cwd=live.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as chat:
        assert chat.stdin is not None and chat.stdout is not None
        chat.stdin.write("hello\n")
        assert chat.stdout.readline()
        end = monotonic() + 60
        while chat.poll() is None and monotonic() < end:
            chat.send_signal(signal.SIGINT)  # the first may come while the run still ends
            with suppress(subprocess.TimeoutExpired):
                chat.wait(0.5)
        assert chat.returncode in (130, -signal.SIGINT)  # a shell says 130 of both
