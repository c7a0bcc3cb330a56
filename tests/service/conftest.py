"""A folder with a scripted agent, and ways to talk to its daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

AGENT = """\
model = "rehearsal"
timezone = "UTC"

[server]
bind = "127.0.0.1:0"
"""

SCRIPT = """\
[[turn]]
when = 'slow (?P<n>\\d+)'
steps = [{ wait = 0.5, call = "mark", args = { text = "step {n}" } }, { say = "done {n}" }]

[[turn]]
when = 'very long'
steps = [{ wait = 30.0, say = "never said" }]

[[turn]]
when = 'pay'
steps = [{ call = "pay", args = { amount = 5 } }, { say = "paid: {result}" }]

[[turn]]
when = '(?s)(?P<all>.+)'
steps = [{ say = "heard: {all}" }]
"""

TOOLS = '''\
from pathlib import Path

from wakeful.tool import tool

FILE = Path(__file__).parent.parent / "marks.txt"


@tool(effect="once")
async def mark(text: str) -> str:
    """Write a line.

    Args:
        text: the line.
    """
    with FILE.open("a") as file:
        file.write(text + "\\n")
    return "written"


@tool(effect="once", approve="always")
async def pay(amount: int) -> str:
    """Pay.

    Args:
        amount: how much.
    """
    return f"{amount} paid"
'''


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    for name in ("channels", "schedules", "tools"):
        (folder / name).mkdir(parents=True)
    (folder / "agent.toml").write_text(AGENT)
    (folder / "AGENTS.md").write_text("You are tested.\n")
    (folder / "rehearsal.toml").write_text(SCRIPT)
    (folder / "tools" / "work.py").write_text(TOOLS)
    return folder
