"""The README and Getting started, done by a reader who has Wakeful installed already."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.reading import ROOT, blocks
from tests.walkthroughs.walk import Walk

HERE = Path(sys.executable).parent
FILES = {
    "README.md": ("channels/ci.toml", "tools/refunds.py"),
    "docs/getting-started.md": ("channels/github.toml", "tools/refunds.py"),
}


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    with Walk(tmp_path, HERE) as walk:
        yield walk


def test_the_readme(walk: Walk) -> None:
    walk.follow(blocks(ROOT / "README.md"), files=FILES["README.md"])
    told = walk.outputs
    assert "days until 2027-03-14" in told['echo "How many days until 2027-03-14?" | wakeful chat']
    assert len(told["wakeful schedules next morning-report -n 3"].splitlines()) == 3
    assert '"event"' in next(out for line, out in told.items() if line.startswith("curl"))
    assert "running" in told["wakeful status"]
    assert "webhook/ci/build/42" in told["wakeful threads"]
    assert "schedule/morning-report" in told["wakeful runs"]


def test_getting_started(walk: Walk) -> None:
    page = ROOT / "docs/getting-started.md"
    walk.follow(blocks(page), files=FILES["docs/getting-started.md"])
    assert "no faults" in walk.outputs["wakeful check"]
    assert "morning-report" in walk.outputs["wakeful schedules"]
    assert len(walk.outputs["wakeful schedules next morning-report -n 5"].splitlines()) == 5


def test_operations(walk: Walk) -> None:
    walk.shell("wakeful init my-agent")
    walk.here = walk.here / "my-agent"
    walk.start()
    walk.follow(blocks(ROOT / "docs/operations.md"), files=())
    assert "running" in walk.outputs["wakeful status"]


def test_a_call_that_asks_goes_on_after_the_answer(walk: Walk) -> None:
    walk.shell("wakeful init my-agent")
    walk.here = walk.here / "my-agent"
    for block in blocks(ROOT / "README.md"):
        if block.path == "tools/refunds.py":
            walk.write(block.path, block.text)
    walk.start()
    asked = walk.shell('echo "Refund 12.50 euros for A-1001" | wakeful chat')
    assert "wakeful approve" in asked
    (wait,) = json.loads(walk.shell("wakeful waits --json"))
    assert "Approved" in walk.shell(f"wakeful approve {wait['id']}")
    same = f"wakeful chat --thread {wait['thread']}"  # its turn comes when the refund is done
    assert "days until" in walk.shell(f"echo 'days until 2027-03-14' | {same}")
    assert "done" in walk.shell("wakeful effects")
    assert "refunded 12.50 euros for A-1001" in walk.shell(f"wakeful runs show {wait['event']}")
