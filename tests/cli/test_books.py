"""What commands say and do while the daemon is down."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from wakeful.cli import exits


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("threads",), "No conversations yet"),
        (("runs",), "Nothing ran yet."),
        (("waits",), "Nothing waits for a person."),
        (("effects",), "No calls that changed anything yet."),
    ],
)
def test_a_folder_that_never_ran_is_empty(cli: Cli, words: tuple[str, ...], sentence: str) -> None:
    shown = cli(*words)
    assert shown.code == 0 and sentence in shown.out
    assert cli(*words, "--json").json == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("runs", "--state", "failed"), "No run is failed."),
        (("waits", "--state", "expired"), "No question is expired."),
    ],
)
def test_an_empty_choice_is_not_an_empty_store(
    cli: Cli, words: tuple[str, ...], sentence: str
) -> None:
    assert cli(*words).out == f"{sentence}\n"


@pytest.mark.parametrize("words", [("runs", "show", "999"), ("replay", "999")])
def test_an_event_that_never_was(cli: Cli, words: tuple[str, ...]) -> None:
    shown = cli(*words)
    assert shown.code == exits.UNKNOWN
    assert shown.err == "Error: there is no event 999; `wakeful runs` lists them.\n"


def test_a_folder_that_is_named_wrong_is_not_the_one_around_it(cli: Cli) -> None:
    for words in (("check", "my-agnt"), ("-C", "my-agnt", "status"), ("run", "my-agnt")):
        shown = cli(*words)
        assert (shown.code, shown.err) == (exits.FOLDER, "Error: there is no folder my-agnt.\n")
    shown = cli("chat", "hello")
    assert shown.code == exits.FOLDER and "echo" in shown.err


def test_looking_makes_no_store(cli: Cli, home: Path) -> None:
    cli("threads")
    assert not (home / ".wakeful" / "state.db").exists()


def test_status_says_that_it_is_down(cli: Cli) -> None:
    shown = cli("status")
    assert shown.code == exits.UNAVAILABLE
    assert "not running; `wakeful run` starts it" in shown.out
    assert cli("status", "--json").json["daemon"] == "not running"  # a word that programs know


def test_a_schedule_is_fired_into_the_inbox(cli: Cli) -> None:
    shown = cli("schedules", "run", "morning-report")
    assert shown.code == 0
    assert "It runs when the daemon is started." in shown.out
    (run,) = cli("runs", "--json").json
    assert (run["thread"], run["state"]) == ("schedule/morning-report", "queued")
    assert run["received_at"].endswith("Z")


def test_an_unknown_schedule(cli: Cli) -> None:
    assert cli("schedules", "run", "evening").code == exits.UNKNOWN
    shown = cli("schedules", "next", "evening")
    assert shown.code == exits.UNKNOWN and "there are: housekeeping, morning-report" in shown.err


def test_what_comes_next_is_shown_in_both_clocks(cli: Cli) -> None:
    lines = cli("schedules", "next", "morning-report", "-n", "3").out.splitlines()
    assert len(lines) == 3
    assert all("08:00 +00:00 UTC" in line and line.endswith("T08:00:00Z") for line in lines)


@pytest.mark.parametrize(
    "words",
    [
        ("runs", "show", "7"),
        ("replay", "7"),
        ("approve", "w"),
        ("reject", "w"),
        ("answer", "w", "x"),
    ],
)
def test_what_is_not_there_is_said_so(cli: Cli, words: tuple[str, ...]) -> None:
    shown = cli(*words)
    assert shown.code == exits.UNKNOWN
    assert shown.err.startswith("Error: ") and len(shown.err.splitlines()) == 1


def test_what_has_not_ended_is_not_run_again(cli: Cli) -> None:
    cli("schedules", "run", "morning-report")
    shown = cli("replay", "1")
    assert shown.code == exits.FAILED and "has not ended" in shown.err


def test_schedules_are_listed_before_a_daemon_has_seen_them(cli: Cli, home: Path) -> None:
    (home / "schedules" / "sweep.md").write_text("---\nevery: 71m\n---\nSweep.\n")
    rows = {row["name"]: row for row in cli("schedules", "--json").json}
    assert rows["morning-report"]["next_at"].endswith("T08:00:00Z")
    assert (rows["sweep"]["spec"]["every"], rows["sweep"]["next_at"]) == (4260, None)
    assert "every 1h11m" in cli("schedules").out


def test_an_interval_counts_from_where_the_store_says(cli: Cli, home: Path) -> None:
    (home / "schedules" / "sweep.md").write_text("---\nevery: 71m\n---\nSweep.\n")
    cli("schedules", "run", "sweep")
    rows = {row["name"]: row for row in cli("schedules", "--json").json}
    first, second = cli("schedules", "next", "sweep", "-n", "2", "--json").json
    due, coming, later = map(
        datetime.fromisoformat, (rows["sweep"]["next_at"], first["utc"], second["utc"])
    )
    assert due == coming < later
