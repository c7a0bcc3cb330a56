"""Each skill of ours, used: an agent finds it by its line, reads it, and does what it says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.kit import call, calls, results, world
from wakeful.config import Settings
from wakeful.events import Done
from wakeful.plugs import Folder, check
from wakeful.service.skills import SkillBook
from wakeful.skill import Skill

SKILLS = ("daily-report", "triage", "write-a-skill")
USE: dict[str, Any] = {"use": {"skills": SKILLS}}


def skill(folder: Path, name: str) -> Skill:
    settings = Settings.model_validate({"model": "rehearsal", **USE})
    return next(each for each in Folder(folder, settings).scan().skills if each.name == name)


def read(name: str) -> AIMessage:
    return calls(call("read_file", "read", file_path=f"/.library/{name}/SKILL.md"))


async def test_daily_report_is_saved_where_the_next_one_looks(tmp_path: Path) -> None:
    report = "**Report, last 24 hours**\n\nNothing needs you."

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        seen = results(messages)
        if "read" not in seen:
            assert "daily-report: Write a short report" in messages[0].text
            return read("daily-report")
        if "save" not in seen:
            assert "/reports/<YYYY-MM-DD>.md" in seen["read"]
            path = "/reports/2027-01-15.md"
            return calls(call("write_file", "save", file_path=path, content=report))
        return AIMessage(report)

    async with world(tmp_path, say, **USE) as at:
        found = await at.turn("Write the daily report.")
        assert isinstance(found, Done)
        assert [reply.text for reply in found.replies] == [report]
    [saved] = (tmp_path / ".wakeful").rglob("2027-01-15.md")
    assert saved.read_text() == report


async def test_triage_ends_noise_in_silence_with_its_reason(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        seen = results(messages)
        if "read" not in seen:
            return read("triage")
        assert "| nothing |" in seen["read"] and "`no_reply`" in seen["read"]
        return calls(call("no_reply", "end", reason="nothing: a ping of the hook"))

    async with world(tmp_path, say, **USE) as at:
        found = await at.turn("ping", kind="delivery", untrusted=True)
        assert isinstance(found, Done)
        assert (found.silent, found.replies) == ("nothing: a ping of the hook", ())


async def test_write_a_skill_leads_to_a_draft_that_check_accepts(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        seen = results(messages)
        if "read" not in seen:
            return read("write-a-skill")
        if "save" not in seen:
            draft = _template(seen["read"])
            path = "/skills/close-the-month/SKILL.md"
            return calls(call("write_file", "save", file_path=path, content=draft))
        return AIMessage("The draft is /skills/close-the-month/SKILL.md.")

    async with world(tmp_path, say, **USE) as at:
        assert isinstance(await at.turn("Make this a skill."), Done)
        settings = Settings.model_validate({"model": "rehearsal", **USE})
        book = SkillBook(tmp_path, settings, at.store.view)
        seen = await book.row("close-the-month")
        assert seen["state"] == "draft"
        await book.accept(at.store, seen["name"], seen["digest"], by="console:operator")
    (tmp_path / "agent.toml").write_text('model = "rehearsal"\n')
    assert [str(fault) for fault in check(tmp_path) if not fault.warning] == []
    assert skill(tmp_path, "close-the-month").body.startswith("# <what one gets>")


def _template(text: str) -> str:
    """The form that the skill shows, filled in; file tools put line numbers in front."""
    rows = [row.split("\t", 1)[-1] for row in text.splitlines()]
    start = next(n for n, row in enumerate(rows) if row == "    ---")
    form = [row.removeprefix("    ") for row in rows[start:] if not row or row.startswith("    ")]
    end = next(n for n, row in enumerate(form) if row.startswith("- <what went wrong"))
    filled = "\n".join(form[: end + 1])
    filled = filled.replace("name: <name>", "name: close-the-month")
    return filled.replace("<what it does>", "Closes the month").replace(
        "<the words and situations of step 1>", "somebody says close the month"
    )
