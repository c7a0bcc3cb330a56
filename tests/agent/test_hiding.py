"""A secret that gets into a message does not stay in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import SecretStr

from tests.agent.dying import prepare
from tests.agent.kit import call, calls, results, state_of, world
from wakeful.agent.hiding import hidden, nothing

SECRET = "canary-0123456789"


def hide(text: str) -> str:
    return text.replace(SECRET, "[redacted]")


def test_text_blocks_and_arguments_are_cleaned() -> None:
    message = calls(call("pay", "p1", key=[{"deep": SECRET}]), text=f"with {SECRET}")
    clean = hidden(message, hide)
    assert SECRET not in clean.model_dump_json()
    assert clean.tool_calls[0]["args"] == {"key": [{"deep": "[redacted]"}]}
    blocks: list[Any] = [{"type": "text", "text": SECRET}]
    assert SECRET not in str(hidden(ToolMessage(blocks, tool_call_id="1"), hide).content)


def test_a_message_without_secrets_stays_the_same_object() -> None:
    message = HumanMessage("hello", id="1")
    assert hidden(message, hide) is message
    assert hidden(message, nothing) is message


async def test_X4_a_secret_stays_out_of_thread_journal_and_reply(tmp_path: Path) -> None:
    def say(messages: Sequence[BaseMessage]) -> AIMessage:
        assert SECRET not in str(messages)
        done = results(messages)
        return AIMessage(f"{SECRET} {done}") if done else calls(call("charge", "c1", order=SECRET))

    async with world(prepare(tmp_path), say) as w:
        w.agent._secrets.remember(SecretStr(SECRET).get_secret_value())
        done = await w.turn(f"my key is {SECRET}")
        assert "[redacted]" in done.replies[0].text
        assert SECRET not in str(done) + str(await state_of(w))

        def stored(session: Any) -> str:
            tables = ("writes", "checkpoints", "effect")
            return "".join(
                str(tuple(row))
                for table in tables
                for row in session.raw.execute(f"SELECT * FROM {table}").fetchall()
            )

        assert SECRET not in await w.store.db.run(stored)
