from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as st

from wakeful.config import Settings, load
from wakeful.plugs import Folder, Snapshot
from wakeful.plugs.modules import PREFIX

TOOL = '''
async def look(order: str) -> str:
    """Look up.

    Args:
        order: its number.
    """
    return "{0}"
'''
CHANNEL = """
from contextlib import asynccontextmanager
from pydantic import BaseModel
class Settings(BaseModel):
    room: str = "lobby"
@asynccontextmanager
async def open(settings, host):
    yield None
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return write(tmp_path, {"agent.toml": 'model = "rehearsal"\n', "AGENTS.md": "You help.\n"})


def names(snapshot: Snapshot) -> list[str]:
    return [plug.name for plug in snapshot.tools]


def said(snapshot: Snapshot) -> list[str]:
    return [str(fault) for fault in snapshot.faults]


def call(snapshot: Snapshot, name: str, *args: str) -> str:
    [plug] = [plug for plug in snapshot.tools if plug.name == name]
    result: str = asyncio.run(plug.function(*args))
    return result


def test_an_empty_folder_has_our_plugs(agent: Path) -> None:
    snapshot = Folder(agent, load(agent)).scan()
    assert snapshot.faults == ()
    assert names(snapshot) == ["fetch_url", "no_reply", "remember", "send"]
    assert list(snapshot.channels) == ["console"]
    assert [rule.name for rule in snapshot.schedules] == ["housekeeping"]
    assert snapshot.skills == ()
    assert snapshot.agents_md == "You help.\n"


def test_everything_that_a_folder_may_hold(agent: Path) -> None:
    write(
        agent,
        {
            "tools/ledger.py": TOOL.format("ledger"),
            "tools/pay/__init__.py": "from .impl import pay\n",
            "tools/pay/impl.py": 'def pay() -> str:\n    """Pay."""\n    return "paid"\n',
            "channels/pager.py": CHANNEL,
            "channels/ops.toml": 'use = "pager"\nroom = "ops"\n',
            "channels/ci.toml": 'use = "webhook"\nverify = "none"\n',
            "schedules/daily.md": "---\ncron: 0 9 * * *\ndeliver: ops:all\n---\nReport.\n",
            "skills/expenses/SKILL.md": "---\nname: expenses\ndescription: D\n---\nDo.\n",
            "subagents/r.md": "---\ndescription: D\ntools: [look, grep]\n---\nYou.\n",
        },
    )
    snapshot = Folder(agent, load(agent)).scan()
    assert said(snapshot) == []
    assert names(snapshot) == ["fetch_url", "look", "no_reply", "pay", "remember", "send"]
    assert list(snapshot.channels) == ["ci", "console", "ops"]
    assert snapshot.channels["ops"].settings == {"room": "ops"}
    assert (snapshot.channels["ops"].use, snapshot.channels["ci"].use) == ("pager", "webhook")
    assert [rule.name for rule in snapshot.schedules] == ["daily", "housekeeping"]
    assert [skill.name for skill in snapshot.skills] == ["expenses"]
    assert [spec.tools for spec in snapshot.subagents] == [("look", "grep")]


def test_nothing_changed_is_the_same_object(agent: Path) -> None:
    folder = Folder(agent, load(agent))
    first = folder.scan()
    assert folder.scan() is first
    assert Folder(agent, load(agent)).scan().digest == first.digest
    write(agent, {"AGENTS.md": "You help more.\n"})
    assert folder.scan().digest != first.digest
    write(agent, {"AGENTS.md": "You help.\n"})
    assert folder.scan().digest == first.digest


def test_an_edit_reaches_the_next_scan_and_not_what_runs(agent: Path) -> None:
    write(agent, {"tools/ledger.py": TOOL.format("one")})
    folder = Folder(agent, load(agent))
    before = folder.scan()
    write(agent, {"tools/ledger.py": TOOL.format("two")})
    after = folder.scan()
    assert call(before, "look", "x") == "one"
    assert call(after, "look", "x") == "two"


def test_an_edit_inside_a_folder_is_seen(agent: Path) -> None:
    inner = 'def pay() -> str:\n    """Pay."""\n    return "{0}"\n'
    write(
        agent,
        {"tools/pay/__init__.py": "from .impl import pay\n", "tools/pay/impl.py": inner},
    )
    folder = Folder(agent, load(agent))
    before = folder.scan()
    write(agent, {"tools/pay/impl.py": inner.format("more than before")})
    assert folder.scan().digest != before.digest


def test_a_broken_edit_keeps_the_last_good_version_and_says_so(agent: Path) -> None:
    write(
        agent, {"tools/ledger.py": TOOL.format("good"), "schedules/s.md": "---\nevery: 1h\n---\nA"}
    )
    folder = Folder(agent, load(agent))
    good = folder.scan()
    write(agent, {"tools/ledger.py": "def look(:\n", "schedules/s.md": "---\nevry: 1h\n---\nA"})
    kept = folder.scan()
    assert call(kept, "look", "x") == "good"
    assert [rule.name for rule in kept.schedules] == ["housekeeping", "s"]
    assert kept.digest == good.digest
    assert any(each.startswith("tools/ledger.py:1: it is not Python") for each in said(kept))
    assert all(each.endswith("its last good version stays in use") for each in said(kept))
    write(
        agent,
        {"tools/ledger.py": TOOL.format("better"), "schedules/s.md": "---\nevery: 2h\n---\nA"},
    )
    better = folder.scan()
    assert (said(better), call(better, "look", "x")) == ([], "better")


def test_a_channel_with_faulty_settings_keeps_the_good_ones(agent: Path) -> None:
    write(agent, {"channels/pager.py": CHANNEL, "channels/ops.toml": 'use = "pager"\nroom = "a"\n'})
    folder = Folder(agent, load(agent))
    folder.scan()
    write(agent, {"channels/ops.toml": 'use = "pager"\nrom = "b"\n'})
    kept = folder.scan()
    assert kept.channels["ops"].settings == {"room": "a"}
    assert 'did you mean "room"?; its last good version' in said(kept)[0]


def test_a_file_that_is_gone_takes_its_plug_along(agent: Path) -> None:
    write(agent, {"tools/ledger.py": TOOL.format("x"), "channels/pager.py": CHANNEL})
    folder = Folder(agent, load(agent))
    assert "look" in names(folder.scan())
    (agent / "tools" / "ledger.py").unlink()
    (agent / "channels" / "pager.py").unlink()
    after = folder.scan()
    assert "look" not in names(after)
    assert list(after.channels) == ["console"]


def test_P12_one_bad_plug_leaves_the_others(agent: Path) -> None:
    write(
        agent,
        {
            "tools/bad.py": "1 / 0\n",
            "tools/odd.py": "__all__ = 7\ndef f(): pass\n",
            "tools/good.py": TOOL.format("x"),
            "channels/bad.toml": 'use = "nowhere"\n',
            "subagents/bad.md": "no settings",
        },
    )
    snapshot = Folder(agent, load(agent)).scan()
    assert {"look", "send"} <= set(names(snapshot))
    assert list(snapshot.channels) == ["console"]
    assert len(said(snapshot)) == 4


def test_the_agents_own_stands_before_ours(agent: Path) -> None:
    own = TOOL.format("own").replace("look", "send")
    write(agent, {"tools/send.py": own, "channels/console.py": CHANNEL})
    snapshot = Folder(agent, load(agent)).scan()
    [send] = [plug for plug in snapshot.tools if plug.name == "send"]
    assert not send.ours
    assert snapshot.channels["console"].module.__name__.startswith(PREFIX)
    assert said(snapshot) == []


def test_a_function_named_as_one_of_ours_stands_before_it_too(agent: Path) -> None:
    write(agent, {"tools/mine.py": TOOL.format("own").replace("look", "remember")})
    snapshot = Folder(agent, load(agent)).scan()
    [found] = [plug for plug in snapshot.tools if plug.name == "remember"]
    assert found.file == "tools/mine.py" and not found.ours


def test_two_tools_of_one_name_are_a_fault(agent: Path) -> None:
    write(agent, {"tools/a.py": TOOL.format("a"), "tools/b.py": TOOL.format("b")})
    snapshot = Folder(agent, load(agent)).scan()
    assert said(snapshot) == [
        "tools/b.py: look: tools/a.py has a tool of this name too; rename one of them"
    ]
    assert call(snapshot, "look", "x") == "a"


def test_an_own_channel_without_settings_opens_unless_a_file_uses_it(agent: Path) -> None:
    write(agent, {"channels/pager.py": CHANNEL})
    folder = Folder(agent, load(agent))
    assert folder.scan().channels["pager"].settings == {}
    write(agent, {"channels/ops.toml": 'use = "pager"\n'})
    assert list(folder.scan().channels) == ["console", "ops"]


def test_use_chooses_ours(agent: Path) -> None:
    write(
        agent,
        {
            "agent.toml": 'model = "rehearsal"\n[use]\ntools = ["send"]\nskills = ["triage"]\n'
            "schedules = []\nchannels = []\n"
        },
    )
    snapshot = Folder(agent, load(agent)).scan()
    assert (names(snapshot), snapshot.schedules, dict(snapshot.channels)) == (["send"], (), {})
    assert [skill.name for skill in snapshot.skills] == ["triage"]
    assert snapshot.faults == ()


def test_edited_settings_are_followed_and_faulty_ones_are_not(agent: Path) -> None:
    folder = Folder(agent, load(agent), overrides={"timezone": "Europe/Berlin"})
    folder.scan()
    write(agent, {"agent.toml": 'model = "openai:x"\n[use]\ntools = []\n'})
    after = folder.scan()
    assert (after.settings.model, after.settings.timezone) == ("openai:x", "Europe/Berlin")
    assert names(after) == []
    write(agent, {"agent.toml": 'modle = "openai:y"\n'})
    kept = folder.scan()
    assert kept.settings.model == "openai:x"
    assert any('did you mean "model"?' in each for each in said(kept))
    assert folder.scan() is kept


def test_another_time_zone_is_another_schedule(agent: Path) -> None:
    write(agent, {"schedules/s.md": "---\ncron: 0 9 * * *\n---\nA"})
    folder = Folder(agent, load(agent))
    assert folder.scan().schedules[-1].timezone == "UTC"
    write(agent, {"agent.toml": 'model = "rehearsal"\ntimezone = "Asia/Tokyo"\n'})
    assert folder.scan().schedules[-1].timezone == "Asia/Tokyo"


def test_old_versions_leave_the_module_table(agent: Path) -> None:
    folder = Folder(agent, load(agent))
    before = set(sys.modules)
    for number in range(6):
        write(agent, {"tools/ledger.py": TOOL.format("x" * number)})
        folder.scan()
    left = [name for name in set(sys.modules) - before if name.startswith(PREFIX + "")]
    assert len([name for name in left if name.endswith("tools_ledger")]) <= 2


def test_scans_from_several_threads_agree(agent: Path) -> None:
    write(agent, {"tools/ledger.py": TOOL.format("x")})
    folder = Folder(agent, load(agent))
    found: list[Snapshot] = []
    threads = [threading.Thread(target=lambda: found.append(folder.scan())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each) for each in found}) == 1


def test_an_unreadable_file_does_not_stop_the_scan(agent: Path) -> None:
    write(agent, {"tools/ledger.py": TOOL.format("x")})
    (agent / "subagents").mkdir()
    os.symlink(agent / "nowhere.md", agent / "subagents" / "gone.md")
    (agent / "AGENTS.md").write_bytes(b"\xff\xfe\xff")
    snapshot = Folder(agent, load(agent)).scan()
    assert "look" in names(snapshot)
    assert said(snapshot) == ["AGENTS.md: it is not UTF-8 text"]


TEXTS = st.sampled_from(
    [
        TOOL.format("x"),
        "def look(",
        "1 / 0",
        "---\nevery: 1h\n---\nDo.",
        "---\ndescription: D\n---\nYou.",
        'use = "webhook"\nverify = "none"',
        "use = 1",
        CHANNEL,
        "",
    ]
)
FILES = st.sampled_from(
    [
        "tools/a.py",
        "tools/a/__init__.py",
        "tools/_b.py",
        "channels/c.py",
        "channels/c.toml",
        "channels/d.toml",
        "schedules/e.md",
        "schedules/e.py",
        "subagents/f.md",
        "skills/g/SKILL.md",
        "connections/h.toml",
    ]
)


@trying(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(FILES, TEXTS, max_size=4), min_size=1, max_size=4))
def test_any_series_of_edits_gives_what_a_fresh_look_gives_or_something_older(
    tmp_path_factory: pytest.TempPathFactory, edits: list[dict[str, str]]
) -> None:
    """Live reload never raises; without faults it is exactly what a restart would see."""
    agent = tmp_path_factory.mktemp("agent")
    write(agent, {"agent.toml": 'model = "rehearsal"\n'})
    settings = Settings(model="rehearsal")
    running = Folder(agent, settings)
    for edit in edits:
        write(agent, edit)
        seen, fresh = running.scan(), Folder(agent, settings).scan()
        assert {(f.file, f.line) for f in seen.faults} >= {(f.file, f.line) for f in fresh.faults}
        assert set(names(fresh)) <= set(names(seen))
        if not fresh.faults:
            assert seen.digest == fresh.digest
            assert names(seen) == names(fresh)
