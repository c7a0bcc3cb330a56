"""A tool that needs a person is told plainly what it cannot have; it is not taken for broken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.kit import call, calls, results, world

TOOLS = '''
from langgraph.types import interrupt

from wakeful.errors import Ask, Refused, SignInNeeded
from wakeful.tool import tool


@tool(effect="{effect}")
async def ask() -> str:
    """Ask."""
    raise Ask("Which account?", {{"known": "A, B"}})


@tool(effect="{effect}")
async def sign_in() -> str:
    """Sign in."""
    raise SignInNeeded("github", "slack:T1:U7")


@tool(effect="{effect}")
async def stop() -> str:
    """Stop in the middle."""
    return interrupt("what now?")


@tool(effect="{effect}")
async def refuse() -> str:
    """Refuse."""
    raise Refused("the shop is closed")


@tool(effect="{effect}")
async def break_down() -> str:
    """Break."""
    raise ValueError("no number")
'''


@pytest.mark.parametrize("effect", ["once", "repeat"])
@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("ask", ("must be asked first", "Which account? (known: A, B)", "Ask in your answer")),
        ("sign_in", ("needs a sign-in", "slack:T1:U7 must connect github first")),
        ("stop", ("stopped in the middle", "find out what that was")),
        ("refuse", ("refuse failed: the shop is closed",)),
        ("break_down", ("break_down failed: ValueError: no number",)),
    ],
)
async def test_what_the_model_is_told(
    tmp_path: Path, effect: str, tool: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "needy.py").write_text(TOOLS.format(effect=effect))

    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        done = results(messages)
        return AIMessage(done["c1"]) if done else calls(call(tool, "c1"))

    async with world(tmp_path, say) as w:
        done = await w.turn("go")
        for word in words:
            assert word in done.replies[0].text
        assert "UNKNOWN" not in done.replies[0].text
        assert await w.effects() == ([(tool, "failed")] if effect == "once" else [])
