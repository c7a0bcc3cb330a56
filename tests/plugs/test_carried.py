"""A skill's folder, read once, and the digest of what was read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeful.errors import Refused
from wakeful.plugs import carried as room
from wakeful.plugs.carried import Carried, carried, is_aside

FILES = st.dictionaries(st.text("ab/", min_size=1, max_size=4), st.binary(max_size=4), max_size=4)


@given(FILES, FILES)
def test_the_same_digest_is_the_same_content(
    one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    assert (Carried(one).digest == Carried(other).digest) is (one == other)


def test_everything_in_the_folder_is_read(tmp_path: Path) -> None:
    for name in ("SKILL.md", ".hidden", "scripts/a.sh", ".git/config", "__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "scripts" / "a.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "inside").symlink_to(tmp_path / "scripts")
    held = carried(tmp_path)
    assert set(held.files) == {"SKILL.md", ".hidden", "scripts/a.sh"}
    assert held.executable == {"scripts/a.sh"}
    assert is_aside("/.git/config") and not is_aside("/git/.config")


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"12345678")
    monkeypatch.setattr(room, "MOST_BYTES", 7)
    with pytest.raises(Refused, match="too large for a skill"):
        carried(tmp_path)
    monkeypatch.setattr(room, "MOST_BYTES", 8)
    monkeypatch.setattr(room, "MOST_FILES", 1)
    assert carried(tmp_path).files == {"a": b"12345678"}
    (tmp_path / "b").touch()
    with pytest.raises(Refused, match="too large for a skill"):
        carried(tmp_path)
