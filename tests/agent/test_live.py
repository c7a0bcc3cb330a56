"""What an agent is told before each call, and where its skills and large results lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.kit import call, calls, results, world
from wakeful.agent.library import READ_ONLY, Library
from wakeful.skill import Skill


def skill(folder: Path, name: str, description: str = "How to report.") -> Skill:
    place = folder / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: {description}\n---\nWrite it."
    )
    (place / "table.csv").write_text("a,b\n")
    return Skill(name=name, description=description, body="Write it.", folder=place, file=name)


def test_installed_skills_can_be_read_and_nothing_more(tmp_path: Path) -> None:
    held = [skill(tmp_path, "report"), skill(tmp_path, "triage")]
    library = Library(lambda: held)
    assert [e["path"] for e in library.ls("/").entries or []] == ["/report/", "/triage/"]
    names = sorted(e["path"] for e in library.ls("/report").entries or [])
    assert names == ["/report/SKILL.md", "/report/table.csv"]
    assert "Write it." in str(library.read("/report/SKILL.md").file_data)
    assert library.read("/nothing/SKILL.md").error
    assert library.read("/report/../../secret").error
    assert [m["path"] for m in library.glob("*.csv").matches or []] == [
        "/report/table.csv",
        "/triage/table.csv",
    ]
    assert len(library.grep("Write", "/triage").matches or []) == 1
    assert library.download_files(["/report/table.csv"])[0].content == b"a,b\n"
    for refused in (library.write("/report/x", ""), library.edit("/report/x", "a", "b")):
        assert refused.error == READ_ONLY
    assert library.delete("/report/SKILL.md").error == READ_ONLY
    assert library.upload_files([("/report/x", b"")])[0].error
    held.pop()
    assert library.read("/triage/SKILL.md").error


async def test_the_index_names_a_skill_and_its_file_can_be_read(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        if not done:
            assert "- report: How to report. (`/.library/report/SKILL.md`)" in messages[0].text
            return calls(call("read_file", "f1", file_path="/.library/report/SKILL.md"))
        return AIMessage(done["f1"])

    skill(tmp_path / "skills", "report")
    async with world(tmp_path, say) as w:
        assert "Write it." in (await w.turn("report")).replies[0].text


async def test_a_large_result_becomes_a_file_off_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "dump.py").write_text(
        'from wakeful.tool import tool\n\n@tool(effect="read")\n'
        'def dump() -> str:\n    """Everything."""\n    return "row " * 50_000\n'
    )

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        return AIMessage(done["d1"]) if done else calls(call("dump", "d1"))

    async with world(tmp_path, say) as w:
        done = await w.turn("all of it")
        assert "/.overflow/large_tool_results/d1" in done.replies[0].text
        assert len(done.replies[0].text) < 20_000
    private = tmp_path / ".wakeful"
    assert list((private / "workspace").iterdir()) == []
    assert len((private / "overflow/large_tool_results/d1").read_text()) > 100_000


async def test_a_plan_is_kept_and_never_written_twice_at_once(tmp_path: Path) -> None:
    def plan(id: str, status: str) -> dict[str, object]:
        return call("write_todos", id, todos=[{"content": "look", "status": status}])

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        if not done:
            return calls(plan("p1", "pending"), plan("p2", "pending"))
        if len(done) == 2:
            assert all("more than once" in text for text in done.values())
            return calls(plan("p3", "completed"))
        return AIMessage(done["p3"])

    async with world(tmp_path, say) as w:
        done = await w.turn("plan it")
        assert done.replies[0].text == "The list is kept: 1 of 1 done."
        assert {"write_todos", "task", "ls", "read_file", "write_file"} <= set(w.model.tools[0])
        assert "execute" not in w.model.tools[0]


async def test_a_sub_agent_has_no_other_tools_than_it_may(tmp_path: Path) -> None:
    (tmp_path / "subagents").mkdir()
    (tmp_path / "subagents" / "clerk.md").write_text(
        "---\ndescription: a clerk\ntools: []\n---\nYou are the clerk."
    )

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        if messages[0].text.startswith("You are the clerk."):
            return AIMessage("yes?")
        if not results(messages):
            return calls(call("task", "t1", description="hello", subagent_type="clerk"))
        return AIMessage("done")

    async with world(tmp_path, say) as w:
        await w.turn("go")
        assert "task" in w.model.tools[0]
        assert not {"task", "send", "remember"} & set(w.model.tools[1])
