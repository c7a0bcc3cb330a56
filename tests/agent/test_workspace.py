"""Files that are replaced whole, and never over somebody's head."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.kit import call, calls, heard, results, world
from wakeful.agent import workspace as rooms
from wakeful.agent.workspace import Seen, Workspace


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Who acts now; the test changes it."""
    who = [("thread", "main")]
    monkeypatch.setattr(rooms, "reader", lambda: who[0])
    return who


def test_a_file_is_made_read_and_changed(tmp_path: Path, agent: list[tuple[str, str]]) -> None:
    space = Workspace(tmp_path / "w")
    assert space.write("/notes/a.txt", "one\ntwo\n").error is None
    assert space.edit("/notes/a.txt", "two", "three").occurrences == 1
    assert (tmp_path / "w/notes/a.txt").read_text() == "one\nthree\n"
    assert (tmp_path / "w/notes/a.txt").stat().st_mode & 0o777 == 0o600
    assert space.write("/notes/a.txt", "whole").error is None
    assert space.delete("/notes/a.txt").error is None
    assert not list((tmp_path / "w/notes").iterdir())


def test_what_somebody_else_changed_is_not_overwritten(
    tmp_path: Path, agent: list[tuple[str, str]]
) -> None:
    space = Workspace(tmp_path)
    space.write("/a.txt", "mine")
    agent[0] = ("thread", "sub")
    assert "have not read it" in str(space.write("/a.txt", "theirs").error)
    space.read("/a.txt")
    assert space.write("a.txt", "theirs").error is None
    agent[0] = ("thread", "main")
    for refused in (
        space.write("/a.txt", "x"),
        space.edit("/a.txt", "t", "x"),
        space.delete("/a.txt"),
    ):
        assert "has changed" in str(refused.error)
    space.read("/a.txt")
    assert space.edit("/a.txt", "theirs", "both").error is None


def test_an_edit_from_outside_and_a_removal_are_noticed(
    tmp_path: Path, agent: list[tuple[str, str]]
) -> None:
    space = Workspace(tmp_path)
    space.write("/a.txt", "one")
    (tmp_path / "a.txt").write_text("two")
    assert "has changed" in str(space.write("/a.txt", "three").error)
    space.read("/a.txt")
    (tmp_path / "a.txt").unlink()
    assert "has changed" in str(space.write("/a.txt", "three").error)
    assert space.write("/a.txt", "three").error is None


def test_the_same_write_twice_is_nothing_after_a_restart_too(
    tmp_path: Path, agent: list[tuple[str, str]]
) -> None:
    Workspace(tmp_path).write("/a.txt", "same")
    again = Workspace(tmp_path)
    assert again.write("/a.txt", "same").error is None
    assert "have not read it" in str(Workspace(tmp_path).write("/a.txt", "other").error)


@pytest.mark.parametrize("path", ["/../out.txt", "/a/../../out.txt", "/link/out.txt"])
def test_X12_nothing_leaves_the_workspace(
    tmp_path: Path, agent: list[tuple[str, str]], path: str
) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "link").symlink_to(tmp_path)
    assert Workspace(tmp_path / "w").write(path, "x").error
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize("name", ["/", ".", "", "/d/.."])
def test_the_workspace_itself_is_neither_written_nor_deleted(
    tmp_path: Path, agent: list[tuple[str, str]], name: str
) -> None:
    space = Workspace(tmp_path / "w")
    touched = tmp_path.stat().st_mtime_ns
    assert space.write(name, "x").error
    assert space.delete(name).error
    assert (tmp_path / "w").is_dir()
    assert tmp_path.stat().st_mtime_ns == touched  # not even a draft beside it
    assert space.write("/d/a.txt", "x").error is None
    assert "is a folder" in str(space.write("/d", "x").error)


def test_D19_readers_see_the_old_text_or_the_new_one(
    tmp_path: Path, agent: list[tuple[str, str]]
) -> None:
    space, done = Workspace(tmp_path), threading.Event()
    space.write("/a.txt", "a" * 200_000)
    torn: list[int] = []

    def watch() -> None:
        while not done.is_set():
            text = (tmp_path / "a.txt").read_text()
            if len(text) != 200_000 or len(set(text)) != 1:
                torn.append(len(text))

    reader = threading.Thread(target=watch)
    reader.start()
    for n in range(60):
        space.write("/a.txt", "ab"[n % 2] * 200_000)
    done.set()
    reader.join()
    assert torn == []


def test_the_oldest_are_forgotten() -> None:
    seen = Seen(limit=2)
    for name in ("a", "b", "c"):
        seen.set(("t", ""), name, name)
    assert [seen.get(("t", ""), name) for name in ("a", "b", "c")] == [None, "b", "c"]


async def test_two_sub_agents_on_one_file_lose_nothing_silently(tmp_path: Path) -> None:
    """Both read, both write; the slower one is told, reads again and merges."""
    turns: dict[str, int] = {}
    wrote: set[str] = set()
    folder = tmp_path / ".wakeful" / "workspace"
    folder.mkdir(parents=True)
    (folder / "list.txt").write_text("start")

    def helper(name: str, done: dict[str, str]) -> AIMessage:
        n = turns[name] = turns.get(name, 0) + 1
        newest = done.get(f"{name}{n - 1}", "")
        if n == 1 or "has changed" in newest:
            return calls(call("read_file", f"{name}{n}", file_path="/list.txt"))
        if n > 2 and f"{name}{n - 1}" in wrote:
            return AIMessage(f"{name} done")
        wrote.add(f"{name}{n}")
        merged = f"{(folder / 'list.txt').read_text()} {name}"
        return calls(call("write_file", f"{name}{n}", file_path="/list.txt", content=merged))

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        if heard(messages) in ("anna", "bert"):
            return helper(heard(messages), done)
        if not done:
            return calls(
                call("task", "t1", description="anna", subagent_type="general-purpose"),
                call("task", "t2", description="bert", subagent_type="general-purpose"),
            )
        return AIMessage(" ".join(done.values()))

    async with world(tmp_path, say) as w:
        done = await w.turn("go")
        assert done.replies[0].text == "anna done bert done"
        assert sorted((folder / "list.txt").read_text().split()) == ["anna", "bert", "start"]
        refused = [s for s in done.steps if s.name == "write_file" and not s.ok]
        assert len(refused) == 1
