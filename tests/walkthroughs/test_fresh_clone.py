"""A new user: an empty folder, a fresh clone, nothing but Python, pip and make, and the README."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.docs.reading import ROOT, blocks
from tests.walkthroughs.test_pages import FILES
from tests.walkthroughs.walk import Walk

MINUTES = 60  # seconds
ENV = {"CI": "", "VIRTUAL_ENV": "", "PYTHONPATH": ""}


def make(clone: Path, *words: str) -> str:
    venv = str(Path(os.environ.get("VIRTUAL_ENV", "/nowhere")) / "bin")
    path = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != venv)
    done = subprocess.run(
        ["make", *words],
        cwd=clone,
        env={**os.environ, **ENV, "PATH": path, "MAKEFLAGS": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10 * MINUTES,
    )
    assert done.returncode == 0, (
        f"make {' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    )
    return done.stdout


@pytest.mark.fresh
@pytest.mark.timeout(15 * MINUTES)
def test_the_readme_is_all_that_it_takes(tmp_path: Path) -> None:
    clone = tmp_path / "wakeful"
    subprocess.run(["git", "clone", "-q", "--no-local", ROOT, clone], check=True)
    shown = make(clone, "demo", "DEMO_ARGS=--once")
    assert [word for word in ("chat ok", "schedule ok", "webhook ok") if word not in shown] == []
    tested = make(clone, "test", "PYTEST_ARGS=tests/test_backoff.py tests/docs")
    assert " passed" in tested
    with Walk(clone, clone / ".venv" / "bin", ENV) as walk:
        walk.follow(blocks(ROOT / "README.md"), files=FILES["README.md"])
    assert "webhook/ci/build/42" in walk.outputs["wakeful threads"]
