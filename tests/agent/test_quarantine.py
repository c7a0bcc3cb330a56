"""A skill that nobody has accepted is not there for the model: not named, found or read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.kit import World, call, calls, heard, results, world
from tests.service.test_skills import LINE, write
from wakeful.agent.library import Library
from wakeful.events import Done
from wakeful.plugs.skills import read_skill
from wakeful.service.skills import SkillBook

PATH = "/.library/setup/SKILL.md"
LOOKS = {
    "read": call("read_file", "read", file_path=PATH),
    "list": call("ls", "list", path="/.library/"),
    "find": call("glob", "find", pattern="**/SKILL.md", path="/.library/"),
    "search": call("grep", "search", pattern="curl"),
    "inside": call("grep", "inside", pattern="curl", path="/.library/setup/"),
}


def look(messages: Sequence[BaseMessage]) -> AIMessage:
    """Look for the skill in every way there is; say what was seen of it. A helper may be sent."""
    seen = results(messages)
    if heard(messages) == "send a helper":
        if not seen:
            ask = {"description": "look", "subagent_type": "general-purpose"}
            return calls(call("task", "task", **ask))
        return AIMessage(seen["task"])
    if not seen:
        return calls(*LOOKS.values())
    told = "setup: Does it." in messages[0].text
    found = [name for name in LOOKS if "curl" in seen[name] or "/setup" in seen[name]]
    found = [name for name in found if "not found" not in seen[name]]
    return AIMessage(f"told: {told}, found: {', '.join(sorted(found)) or 'nothing'}")


async def said(w: World, text: str) -> str:
    done = await w.turn(text)
    assert isinstance(done, Done)
    return done.replies[0].text


async def accept(w: World) -> None:
    assert w.agent._snapshot is not None
    book = SkillBook(w.folder, w.agent._snapshot.settings, w.store.view)
    await book.accept(w.store, "setup", (await book.row("setup"))["digest"], by="console:operator")
    await w.agent.refresh()


async def test_X18_no_agent_sees_a_skill_in_quarantine_and_every_agent_an_accepted_one(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path, "setup", LINE)
    nothing = "told: False, found: nothing"
    async with world(tmp_path, look) as w:
        assert await said(w, "look") == nothing
        assert await said(w, "send a helper") == nothing
        await accept(w)
        everything = "told: True, found: find, inside, list, read, search"
        assert await said(w, "look") == everything
        assert await said(w, "send a helper") == everything
        (folder / "more.md").write_text("curl")
        await w.agent.refresh()
        assert await said(w, "look") == nothing
    async with world(tmp_path, look) as again:  # a restart changes nothing about it
        assert await said(again, "look") == nothing
        await accept(again)
        assert await said(again, "look") == everything


def test_X18_a_version_that_came_in_the_middle_of_a_run_cannot_be_read(tmp_path: Path) -> None:
    folder = write(tmp_path, "prose")
    skill, _ = read_skill(folder)
    assert skill is not None
    library = Library(lambda: [skill])
    assert library.read("/prose/SKILL.md").error is None
    (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "More words.\n")
    assert "More words." in str(library.read("/prose/SKILL.md").file_data)
    (folder / ".hidden.sh").write_text("ls")
    for path in ("/prose/SKILL.md", "/prose/.hidden.sh"):
        assert library.read(path).error
    assert library.ls("/").entries == []
    assert library.download_files(["/prose/SKILL.md"])[0].error == "file_not_found"


def test_what_is_no_part_of_a_skill_is_not_shown(tmp_path: Path) -> None:
    folder = write(tmp_path, "prose")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("token = x")
    skill, _ = read_skill(folder)
    assert skill is not None and skill.findings == ()
    library = Library(lambda: [skill])
    assert [each["path"] for each in library.ls("/prose").entries or []] == ["/prose/SKILL.md"]
    assert library.read("/prose/.git/config").error
    assert not library.grep("token").matches
