"""Files that are written anew: killed in the middle, they are the old one or the new one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.daemon import ROOT
from tests.acceptance.rewriting import KINDS

KILLS = 200


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_D19_killed_in_the_middle_of_a_rewrite_no_file_is_torn(tmp_path: Path, kind: str) -> None:
    command = [sys.executable, "-m", "tests.acceptance.rewriting", kind, str(tmp_path), str(KILLS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    drafts = [file for file in tmp_path.rglob("*") if file.name.startswith(".~")]
    assert len(drafts) <= 1, "what a kill leaves behind adds up"
