from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from wakeful import files


def test_a_file_is_made_and_replaced_and_nobody_else_reads_it(tmp_path: Path) -> None:
    for data in (b"one", b"two, which is longer", b""):
        files.put(tmp_path / "a", data)
        assert (tmp_path / "a").read_bytes() == data
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["a"]


def test_a_failure_leaves_the_old_one_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.put(tmp_path / "a", b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        files.put(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_name_of_any_length_can_be_written(tmp_path: Path) -> None:
    files.put(tmp_path / ("x" * 255), b"long")
    assert len(os.listdir(tmp_path)) == 1


def test_a_draft_that_points_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    files.put(tmp_path / "a", b"1")
    draft = f".~{hashlib.sha256(b'a').hexdigest()[:16]}"  # as a killed process would have left it
    (tmp_path / draft).symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic"):
        files.put(tmp_path / "a", b"2")
    assert (tmp_path / "other").read_text() == "other"
