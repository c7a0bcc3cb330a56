"""`[[files]]`: what the agent may read and write, whichever of its agents and tools tries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.kit import call, calls, heard, results, world
from wakeful.agent.permissions import may
from wakeful.agent.workspace import Workspace
from wakeful.config import FileRule, read
from wakeful.events import Done

CLOSED = FileRule(path="/closed", read=False, write=False)
KEPT = FileRule(path="/kept", write=False)


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("/a", ["/a", "/a/b", "/a/b/c"]),
        ("/a/", ["/a", "/a/b"]),
        ("/a/*.md", ["/a/b.md", "/a/.md", "/a/b.md/c"]),
        ("/a/**/c", ["/a/c", "/a/b/c", "/a/b/b/c", "/a/b.md/c"]),
        ("/**", ["/a", "/a/b"]),
        ("/a?c", ["/abc"]),
    ],
)
def test_what_a_path_means(path: str, fits: list[str]) -> None:
    every = ["/a", "/a/b", "/a/b/c", "/a/c", "/a/b/b/c", "/a/b.md", "/a/.md", "/a/b.md/c", "/abc"]
    rule = FileRule(path=path, read=False)
    refused = {each for each in every if not may([rule], "read", each)}
    if path in ("/**", "/a", "/a/"):
        assert set(fits) <= refused and ("/abc" in refused) is (path == "/**")
    else:
        assert refused == set(fits)


RULES = st.lists(
    st.builds(
        FileRule,
        path=st.sampled_from(["/a", "/a/b", "/**", "/*/b"]),
        read=st.booleans(),
        write=st.booleans(),
    ),
    max_size=4,
)


@given(RULES, st.sampled_from(["/a", "/a/b", "/b", "/b/b"]))
def test_the_first_that_fits_decides_and_without_one_all_is_allowed(
    rules: list[FileRule], path: str
) -> None:
    fits = {"/a": {"/a", "/a/b"}, "/a/b": {"/a/b"}, "/*/b": {"/a/b", "/b/b"}}
    first = next((r for r in rules if r.path == "/**" or path in fits[r.path]), None)
    assert may(rules, "read", path) is (first.read if first else True)
    assert may(rules, "write", path) is (first.write if first else True)


def space(root: Path, *rules: FileRule) -> Workspace:
    for name in ("closed/key", "kept/report", "open/note"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("needle")
    return Workspace(root, lambda: rules)


def test_what_may_not_be_read_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(tmp_path / "closed")
    at = space(tmp_path, CLOSED)
    for path in ("/closed/key", "//closed/key", "closed/key", "/way/key"):
        assert at.read(path).error, path
        assert at.download_files([path])[0].content is None, path
        assert at.edit(path, "needle", "x").error, path
    assert "/closed/" not in [each["path"] for each in at.ls("/").entries or []]
    found = {each["path"] for each in at.glob("**/*").matches or []}
    assert "/closed/key" not in found and "/open/note" in found
    assert {each["path"] for each in at.grep("needle").matches or []} == {
        "/kept/report",
        "/open/note",
    }


async def test_a_search_off_the_loop_is_no_way_around(tmp_path: Path) -> None:
    found = await space(tmp_path, CLOSED).agrep("needle")
    assert "/closed/key" not in {each["path"] for each in found.matches or []}


def test_what_may_not_be_written_stays_as_it_is(tmp_path: Path) -> None:
    at = space(tmp_path, KEPT)
    assert at.read("/kept/report").error is None
    refused = at.write("/kept/report", "x").error
    assert refused is not None and "[[files]] of agent.toml" in refused
    assert at.write("/kept/new", "x").error
    assert at.edit("/kept/report", "needle", "x").error
    assert at.delete("/kept/report").error
    assert at.delete("/kept").error
    assert at.upload_files([("/kept/report", b"x")])[0].error == "permission_denied"
    assert (tmp_path / "kept" / "report").read_text() == "needle"
    assert at.write("/open/new", "x").error is None


def test_a_folder_with_a_protected_file_in_it_is_not_deleted(tmp_path: Path) -> None:
    at = space(tmp_path, FileRule(path="/open/note", write=False))
    at.read("/open/note")
    assert at.delete("/open").error and (tmp_path / "open" / "note").exists()


async def test_sub_agents_are_bound_by_it_and_an_edit_reaches_the_next_event(
    tmp_path: Path,
) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        seen = results(messages)
        if heard(messages) == "send a helper" and not seen:
            ask = {"description": "write", "subagent_type": "general-purpose"}
            return calls(call("task", "task", **ask))
        if not seen:
            return calls(call("write_file", "write", file_path="/kept/new", content="x"))
        return AIMessage(next(iter(seen.values())))

    (tmp_path / "agent.toml").write_text(
        'model = "scripted"\n[[files]]\npath = "/kept"\nwrite = false\n'
    )
    async with world(tmp_path, say, files=[{"path": "/kept", "write": False}]) as w:
        for text in ("write", "send a helper"):
            done = await w.turn(text)
            assert isinstance(done, Done) and "may not be written" in done.replies[0].text
        (tmp_path / "agent.toml").write_text('model = "scripted"\n')
        await w.agent.refresh()
        done = await w.turn("write")
        assert isinstance(done, Done) and "may not" not in done.replies[0].text
    assert [path.read_text() for path in (tmp_path / ".wakeful").rglob("kept/new")] == ["x"]


def test_a_wrong_rule_is_named_with_its_line(tmp_path: Path) -> None:
    text = 'model = "rehearsal"\n[[files]]\npath = "/a"\n[[files]]\npath = "a"\nwrit = false\n'
    (tmp_path / "agent.toml").write_text(text)
    _, faults = read(tmp_path)
    shown = [str(fault) for fault in faults]
    assert any("agent.toml:5" in each and "is no path of the workspace" in each for each in shown)
    assert any("agent.toml:6" in each and '"write"' in each for each in shown)
