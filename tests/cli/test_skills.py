"""`wakeful skills`, while the daemon is down and while it is up."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli
from tests.service.test_skills import LINE, write
from wakeful.cli import exits


def test_X18_from_quarantine_to_use_on_the_command_line(cli: Cli, home: Path) -> None:
    write(home, "setup", LINE)
    shown = cli("check")
    assert shown.code == 0
    assert "skills/setup: it is in quarantine" in shown.out
    assert "`wakeful skills accept setup`" in shown.out
    assert "quarantined skills  setup" in cli("status").out
    assert "setup" in cli("skills").out and "quarantined" in cli("skills").out
    assert f"+{LINE.strip()}" in cli("skills", "diff", "setup").out.splitlines()
    refused = cli("skills", "accept", "setup", stdin="n\n")
    assert refused.code == exits.FAILED and f"+{LINE.strip()}" in refused.out
    assert cli("skills", "accept", "setup").code == exits.FAILED  # nobody answered
    taken = cli("skills", "accept", "setup", stdin="y\n")
    assert taken.code == 0 and "Accepted: setup, version " in taken.out
    assert "in quarantine" not in cli("check").out
    (row,) = cli("skills", "--json").json
    assert (row["state"], row["accepted_by"]) == ("in use", "console:operator")
    assert cli("skills", "accept", "setup", stdin="y\n").code == exits.CONFLICT
    assert cli("skills", "diff", "nothing").code == exits.UNKNOWN


def test_a_digest_accepts_what_was_looked_at_and_nothing_else(cli: Cli, home: Path) -> None:
    folder = write(home, "setup", LINE)
    digest = cli("skills", "diff", "setup", "--json").json["digest"]
    (folder / "run.sh").write_text("ls")
    stale = cli("skills", "accept", "setup", "--digest", digest[:12])
    assert stale.code == exits.CONFLICT and "another version" in stale.err
    assert cli("skills", "accept", "setup", "--digest", "").code == exits.CONFLICT
    digest = cli("skills", "diff", "setup", "--json").json["digest"]
    assert cli("skills", "accept", "setup", "--digest", digest[:12], "--json").json["why"]


def test_beside_a_daemon_that_is_up(live: Cli) -> None:
    write(live.cwd, "setup", LINE)
    write(live.cwd / ".wakeful" / "workspace", "month")
    assert "quarantined skills  setup" in live("status").out
    assert {row["name"]: row["state"] for row in live("skills", "--json").json} == {
        "month": "draft",
        "setup": "quarantined",
    }
    for name in ("setup", "month"):
        assert live("skills", "accept", name, stdin="y\n").code == 0
    assert (live.cwd / "skills" / "month" / "SKILL.md").is_file()
    assert {row["state"] for row in live("skills", "--json").json} == {"in use"}
    assert "quarantined skills  none" in live("status").out
    assert live("skills", "diff", "..").code == exits.UNKNOWN
