"""Every file that the docs show is one that the real parser takes without a fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.reading import Block, all_blocks
from wakeful.cli.init import planned
from wakeful.plugs import check

FILES = [block for block in all_blocks() if block.path]
MODULE_OF = {"channels/night.toml": "channels/pager.py"}  # a snippet that uses another one


def test_there_are_enough_to_mean_something() -> None:
    kinds = {block.path.split("/")[0] for block in FILES}
    assert {"agent.toml", "channels", "schedules", "skills", "subagents", "tools"} <= kinds


@pytest.mark.parametrize("block", FILES, ids=str)
def test_the_file_has_no_fault(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = {other.path: other.text for other in FILES if other.page == block.page}
    files = {str(path.relative_to(tmp_path)): text for path, text in planned(tmp_path).items()}
    # A sub-agent may name a tool of the same page, a settings file the channel that it is for.
    files |= {path: text for path, text in others.items() if path.startswith("tools/")}
    files |= {path: others[path] for path in [MODULE_OF.get(block.path, "")] if path}
    for path, text in (files | {block.path: block.text}).items():
        to = tmp_path / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)
    for name in re.findall(r"secret:(\w+)|\$\{(\w+)\}", block.text):
        monkeypatch.setenv(name[0] or name[1], "0123456789abcdef0123456789abcdef")
    assert [str(fault) for fault in check(tmp_path) if not fault.warning] == []
