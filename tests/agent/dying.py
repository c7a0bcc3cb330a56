"""A process that kills itself at one exact place, and the script that both lives share.

python -m tests.agent.dying FOLDER POINT
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.kit import World, call, calls, heard, results, world

ROOT = Path(__file__).parents[2]
TOOLS = '''
import os, signal
from wakeful.tool import Call, tool

def _note(line: str) -> None:
    with open("{folder}/log", "a") as log:
        log.write(line + "\\n")
    if os.environ.get("DIE_IN") == line.split()[0]:
        os.kill(os.getpid(), signal.SIGKILL)

@tool(effect="once")
async def charge(order: str) -> str:
    """Charge."""
    _note(f"charge {{order}}")
    return f"charged {{order}}"

@tool(effect="once", approve="always")
async def refund(order: str) -> str:
    """Refund."""
    _note(f"refund {{order}}")
    return f"refunded {{order}}"
'''


def prepare(folder: Path) -> Path:
    (folder / "tools").mkdir()
    (folder / "tools" / "shop.py").write_text(TOOLS.format(folder=folder))
    (folder / "subagents").mkdir()
    (folder / "subagents" / "clerk.md").write_text(
        "---\ndescription: charges and refunds\n---\nYou are the clerk."
    )
    return folder


def log_of(folder: Path) -> list[str]:
    path = folder / "log"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def say(messages: Sequence[BaseMessage]) -> AIMessage:
    """`charge`, `refund`, or `clerk <one of them>`; then repeat what came back."""
    done, asked = results(messages), heard(messages)
    if messages[0].text.startswith("You are the clerk.") or not asked.startswith("clerk "):
        if not done:
            return calls(call(asked, f"{asked}-1", order="A-1"))
        if os.environ.get("DIE_IN") == "second-model-call":
            os.kill(os.getpid(), signal.SIGKILL)
        return AIMessage(f"result: {done[f'{asked}-1']}")
    if not done:
        return calls(
            call("task", "task-1", description=asked.removeprefix("clerk "), subagent_type="clerk")
        )
    return AIMessage(f"clerk: {done['task-1']}")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def live(w: World, text: str, point: str) -> None:
    if text:
        await w.accept(text)
    claim = await w.claim()
    found = await w.run(claim)
    if point == "before-commit":
        die()
    await w.commit(claim, found)


async def main(folder: Path, text: str, point: str) -> None:
    async with world(folder, say) as w:
        await live(w, text, point)


def killed(folder: Path, text: str, point: str) -> None:
    """Live once more in another process and die there."""
    environment = {**os.environ, "DIE_IN": point}
    done = subprocess.run(
        [sys.executable, "-m", "tests.agent.dying", str(folder), text, point],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
