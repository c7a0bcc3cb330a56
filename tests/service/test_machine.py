from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from wakeful.service.machine import TooFewFiles, files_left, private_folder, raise_file_limit


def test_the_limit_is_raised_as_far_as_it_goes() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        assert raise_file_limit() >= before[0] or before[0] == resource.RLIM_INFINITY
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_P15_a_process_with_too_few_descriptors_says_so_with_a_sentence() -> None:
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n"
        "from wakeful.service.machine import raise_file_limit, TooFewFiles\n"
        "try: raise_file_limit()\n"
        "except TooFewFiles as error: print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "40 files" in said.stdout and "ulimit -n" in said.stdout


def test_its_default_sentence_says_what_to_do() -> None:
    assert "ulimit -n 1024" in str(TooFewFiles())


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_what_is_left_shrinks_with_every_open_file(tmp_path: Path) -> None:
    before = files_left(1000)
    with open(tmp_path / "one", "w"):
        after = files_left(1000)
    assert before is not None and after == before - 1


def test_the_private_folder_is_closed_to_others_and_to_git(tmp_path: Path) -> None:
    private = private_folder(tmp_path)
    private_folder(tmp_path)
    assert private.stat().st_mode & 0o777 == 0o700
    assert (private / ".gitignore").read_text() == "*\n"
