"""The commands beside a daemon that is up: they ask it over its API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Cli, running, write_agent
from wakeful.cli import exits
from wakeful.web.auth import read_token


def address(home: Path) -> str:
    return (home / ".wakeful" / "address").read_text().strip()


def client(home: Path) -> httpx.Client:
    token = read_token(home / ".wakeful" / "token")
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=address(home), headers=headers, trust_env=False, timeout=60)


def say(home: Path, text: str, thread: str) -> dict[str, Any]:
    """Send a message and read its stream to the end: the run has ended, or waits."""
    with client(home) as http:
        sent = http.post("/api/messages", json={"text": text, "thread": thread}).json()
        with http.stream("GET", f"/api/events/{sent['event']}/stream") as stream:
            for line in stream.iter_lines():
                if '"waiting"' in line:
                    break
        found: dict[str, Any] = http.get(f"/api/events/{sent['event']}").json()
        return {**found, "event": sent["event"]}


def test_status_knows_what_only_the_daemon_knows(live: Cli) -> None:
    shown = live("status")
    assert shown.code == 0
    assert "console: open" in shown.out
    facts = live("status", "--json").json
    assert (facts["daemon"], facts["ready"]) == ("running", True)


def test_conversations_and_runs_are_listed_and_shown(live: Cli) -> None:
    said = say(live.cwd, "How many days until 2027-03-14?", "console/days")
    assert said["state"] == "done"
    assert any(row["key"] == "console/days" for row in live("threads", "--json").json)
    assert "console/days" in live("runs", "--state", "done").out
    shown = live("runs", "show", str(said["event"]))
    assert "days until 2027-03-14" in shown.out and "days_until" in shown.out
    assert live("runs", "show", str(said["event"]), "--json").json["state"] == "done"


def test_an_event_that_ended_runs_once_more(live: Cli) -> None:
    first = say(live.cwd, "How many days until 2027-03-14?", "console/again")
    shown = live("replay", str(first["event"]))
    assert shown.code == 0 and f"Event {first['event']} is accepted again" in shown.out


def test_a_schedule_is_run_by_the_daemon(live: Cli) -> None:
    fired = live("schedules", "run", "morning-report", "--json").json
    assert fired["schedule"] == "morning-report" and fired["event"] > 0
    assert "0 8 * * mon-fri UTC" in live("schedules").out


def test_an_approval_lets_the_call_go_on(live: Cli) -> None:
    asked = say(live.cwd, "refund A-1001", "console/approve")
    assert asked["state"] == "waiting"
    (wait,) = [row for row in live("waits", "--json").json if row["event"] == asked["event"]]
    assert "wakeful approve ID" in live("waits").err
    assert "Approved" in live("approve", wait["id"][:12]).out
    late = live("approve", wait["id"])
    assert late.code == exits.CONFLICT and "approved by console:operator" in late.err
    shown = live("runs", "show", str(asked["event"])).out
    assert "effects:\n" in shown and "replies:\n" in shown and "{" not in shown
    again = say(live.cwd, "How many days until 2027-03-14?", "console/approve")
    assert again["state"] == "done"
    assert any(row["tool"] == "refund" for row in live("effects", "--json").json)


def test_a_rejection_is_told(live: Cli) -> None:
    asked = say(live.cwd, "refund A-1002", "console/reject")
    (wait,) = [row for row in live("waits", "--json").json if row["event"] == asked["event"]]
    shown = live("reject", wait["id"], "--reason", "paid already")
    assert shown.code == 0 and shown.out.startswith("Rejected")
    assert live("reject", wait["id"]).code == exits.CONFLICT


@pytest.mark.parametrize(
    "words", [("runs", "show", "99999"), ("replay", "99999"), ("approve", "w")]
)
def test_what_is_not_there_is_said_so(live: Cli, words: tuple[str, ...]) -> None:
    shown = live(*words)
    assert shown.code == exits.UNKNOWN
    assert "/api/" not in shown.err and "`wakeful " in shown.err


def test_a_second_daemon_refuses(live: Cli) -> None:
    shown = live("run", ".", env={"WAKEFUL_SERVER__BIND": "127.0.0.1:0"})
    assert shown.code == exits.UNAVAILABLE
    assert "another daemon" in shown.err and "Traceback" not in shown.err


def test_a_decision_while_the_daemon_is_down_is_taken_up_by_the_next(tmp_path: Path) -> None:
    home = write_agent(tmp_path / "my-agent")
    cli = Cli(home)
    with running(home):
        asked = say(home, "refund A-1003", "console/down")
    (wait,) = cli("waits", "--json").json
    shown = cli("approve", wait["id"])
    assert shown.code == 0 and "when the daemon is started" in shown.out
    with running(home):
        say(home, "How many days until 2027-03-14?", "console/down")
        run = cli("runs", "show", str(asked["event"]), "--json").json
    assert run["state"] == "done" and "refunded A-1003" in run["reply"]
