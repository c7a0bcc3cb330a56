from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from wakeful.plugs.find import (
    KINDS,
    Entry,
    builtin_root,
    digest,
    entries,
    naming_faults,
    signature,
    usable,
)


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return folder


def names(found: list[Entry]) -> list[str]:
    return [entry.file for entry in found]


def test_which_files_are_plugs(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "tools/b.py",
        "tools/a.py",
        "tools/_private.py",
        "tools/.hidden.py",
        "tools/notes.txt",
        "tools/pkg/__init__.py",
        "tools/data/rows.csv",
        "tools/__pycache__/a.pyc",
        "channels/ci.toml",
        "channels/pager.py",
        "schedules/daily.md",
        "schedules/sweep.py",
        "skills/one/SKILL.md",
        "subagents/r.md",
        "subagents/r.txt",
    )
    assert names(entries(tmp_path, "tools")) == ["tools/a.py", "tools/b.py", "tools/pkg"]
    assert names(entries(tmp_path, "channels")) == ["channels/ci.toml", "channels/pager.py"]
    assert names(entries(tmp_path, "schedules")) == ["schedules/daily.md", "schedules/sweep.py"]
    assert names(entries(tmp_path, "skills")) == ["skills/one"]
    assert names(entries(tmp_path, "subagents")) == ["subagents/r.md"]
    assert entries(tmp_path, "connections") == []


def test_two_plugs_of_one_name(tmp_path: Path) -> None:
    touch(tmp_path, "tools/x.py", "tools/x/__init__.py", "channels/c.py", "channels/c.toml")
    found = entries(tmp_path, "tools")
    [fault] = naming_faults(found)
    assert str(fault) == 'tools/x.py: "x" is x too; keep one of them'
    assert names(usable(found)) == ["tools/x"]
    assert list(naming_faults(entries(tmp_path, "channels"))) == []


def test_names_that_cannot_be_used(tmp_path: Path) -> None:
    touch(tmp_path, "tools/a b.py", "tools/pkg/impl.py", "channels/a:b.toml")
    faults = [str(f) for kind in KINDS for f in naming_faults(entries(tmp_path, kind))]
    assert len(faults) == 3
    assert "tools/pkg: a plug that is a folder needs an __init__.py" in faults
    assert usable(entries(tmp_path, "tools")) == []


def test_ours_are_found_in_a_clone_as_in_a_wheel() -> None:
    tools = [entry.name for entry in entries(builtin_root(), "tools", ours=True)]
    assert {"send", "remember", "no_reply"} <= set(tools)


def test_a_signature_changes_with_every_edit(tmp_path: Path) -> None:
    touch(tmp_path, "pkg/__init__.py", "pkg/deep/a.py", "pkg/__pycache__/a.pyc", "pkg/.swp")
    before = signature(tmp_path / "pkg")
    (tmp_path / "pkg" / "__pycache__" / "a.pyc").write_text("x")
    (tmp_path / "pkg" / ".swp").write_text("x")
    assert signature(tmp_path / "pkg") == before
    (tmp_path / "pkg" / "deep" / "a.py").write_text("x")
    assert signature(tmp_path / "pkg") != before
    assert signature(tmp_path / "gone") == ()


def test_a_file_replaced_by_a_rename_is_seen(tmp_path: Path) -> None:
    path = touch(tmp_path, "a.py") / "a.py"
    before, stat = signature(path), path.stat()
    touch(tmp_path, "b.py")
    os.utime(tmp_path / "b.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    os.replace(tmp_path / "b.py", path)
    assert signature(path) != before


@given(st.dictionaries(st.sampled_from(["a.py", "b.py", "c/d.py"]), st.binary(max_size=8)))
def test_the_digest_is_of_the_content(files: dict[str, bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for root in (Path(one), Path(two)):
            for name, data in files.items():
                touch(root, name)
                (root / name).write_bytes(data)
        assert digest(Path(one)) == digest(Path(two))
        touch(Path(two), "e.py")
        assert digest(Path(one)) != digest(Path(two))
