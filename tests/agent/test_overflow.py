"""Large results do not stay for ever."""

from __future__ import annotations

import os
from pathlib import Path

from wakeful.agent.overflow import sweep


def test_old_files_and_empty_folders_go(tmp_path: Path) -> None:
    for name, touched in (("a/old", 100), ("a/b/older", 50), ("c/new", 300)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        os.utime(path, (touched, touched))
    assert sweep(tmp_path, before=200) == 2
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")) == ["c", "c/new"]
    assert sweep(tmp_path / "nothing", before=200) == 0
