"""Which calls ask, whom, and when nobody is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.agent.dying import log_of
from tests.agent.kit import World, call, calls, heard, results, world
from wakeful.config import Approvals
from wakeful.events import Done, Parked

TOOLS = '''
from wakeful.tool import tool

def _note(line: str) -> None:
    with open("{folder}/log", "a") as log:
        log.write(line + "\\n")

def _large(args) -> bool:
    return args["amount"] > 100

def _broken(args) -> bool:
    return args["nothing"] > 100

@tool(approve=_large)
async def pay(amount: int = 500) -> str:
    """Pay."""
    _note(f"pay {{amount}}")
    return "paid"

@tool(approve=_broken)
async def owe(amount: int) -> str:
    """Owe."""
    _note("owe")
    return "owed"

@tool(approve="once")
async def post(text: str) -> str:
    """Post."""
    _note(f"post {{text}}")
    return "posted"

@tool()
async def free(text: str) -> str:
    """Free."""
    _note(f"free {{text}}")
    return "done"

@tool(effect="read")
async def look(text: str) -> str:
    """Look."""
    return "seen"
'''
HOOK: dict[str, Any] = {
    "source": "ci",
    "principal": "webhook:ci",
    "kind": "delivery",
    "thread": "webhook/ci/1",
}


def say(messages: Sequence[BaseMessage]) -> AIMessage:
    """`do <tool> <argument>=<value>`, once for every word after it that says again."""
    asked, done = heard(messages), results(messages)
    words = asked[asked.index("do ") :].split()
    tool, (name, _, value) = words[1], words[2].partition("=")
    wanted = 1 + sum(word.startswith("again") for word in words)
    if len(done) < wanted:
        args = {name: int(value) if value.isdecimal() else value} if value else {}
        return calls(call(tool, f"c{len(done)}", **args))
    return AIMessage(" / ".join(done.values()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "shop.py").write_text(TOOLS.format(folder=tmp_path))
    return tmp_path


async def approve(w: World, parked: Any) -> Any:
    (wait,) = parked.waits
    await w.decide(wait.id, "approve", digest=wait.digest)
    return await w.work()


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("do pay amount=100", False),
        ("do pay amount=101", True),
        ("do pay -", True),  # the default of the argument counts
        ("do owe amount=1", True),  # a predicate that fails has not said that it is free
        ("do free text=x", False),
    ],
)
async def test_a_function_of_the_arguments_picks_the_calls_that_ask(
    folder: Path, text: str, asks: bool
) -> None:
    async with world(folder, say) as w:
        assert isinstance(await w.turn(text), Parked if asks else Done)
        assert bool(log_of(folder)) is not asks


async def test_once_holds_for_the_requester_and_the_conversation_until_new(folder: Path) -> None:
    async with world(folder, say) as w:
        await approve(w, await w.turn("do post text=m1"))
        assert isinstance(await w.turn("do post text=m2"), Done)
    async with world(folder, say) as w:  # a restart forgets nothing
        assert isinstance(await w.turn("do post text=m3"), Done)
        other = await w.turn("do post text=m4", principal="slack:T1:U2")
        assert isinstance(other, Parked)
        await approve(w, other)
        assert isinstance(await w.turn("do post text=m5", thread="console/b"), Parked)
        assert isinstance(await w.turn("do post text=m6", fresh=True), Parked)
    assert log_of(folder) == ["post m1", "post m2", "post m3", "post m4"]


async def test_a_no_grants_nothing(folder: Path) -> None:
    async with world(folder, say) as w:
        (wait,) = (await w.turn("do post text=m1")).waits
        await w.decide(wait.id, "reject", digest=wait.digest)
        await w.work()
        assert isinstance(await w.turn("do post text=m1"), Parked)


@pytest.mark.parametrize(
    ("approvals", "text", "source", "asks"),
    [
        ({"tools": {"free": "always"}}, "do free text=x", {}, True),
        ({"tools": {"post": "never"}}, "do post text=x", {}, False),
        ({"tools": {"look": "always"}}, "do look text=x", {}, True),
        ({"tools": {"write_todos": "never"}}, "do post text=x", {}, True),
        ({"channels": {"ci": "always"}}, "do free text=x", HOOK, True),
        ({"channels": {"ci": "always"}}, "do free text=x", {}, False),
        ({"channels": {"ci": "always"}}, "do look text=x", HOOK, False),
        # the stricter word holds
        ({"channels": {"ci": "never"}}, "do post text=x", HOOK, True),
        ({"tools": {"free": "never"}, "channels": {"ci": "always"}}, "do free text=x", HOOK, True),
    ],
)
async def test_A8_A9_the_settings_gate_by_tool_and_by_channel(
    folder: Path, approvals: Any, text: str, source: Any, asks: bool
) -> None:
    async with world(folder, say, approvals=Approvals(**approvals)) as w:
        assert isinstance(await w.turn(text, **source), Parked if asks else Done)


async def test_a_hook_asks_those_who_stand_in_for_it_where_they_are(folder: Path) -> None:
    approvals = Approvals(approvers=("console:operator", "slack:T:U"), route=("console:ops",))
    async with world(folder, say, approvals=approvals) as w:
        (wait,) = (await w.turn("do post text=x", **HOOK, address="")).waits
        assert (wait.approvers, wait.route) == (approvals.approvers, approvals.route)
        (card,) = await w.store.take_replies(9)
        assert (card.kind, card.address) == ("ask", "console:ops")
        (mine,) = (await w.turn("do post text=x")).waits
        assert (mine.approvers, mine.route) == ((), ())


async def test_a_tool_with_approvers_of_its_own_asks_them(folder: Path) -> None:
    gate = {"approve": "always", "approvers": ["slack:T:BOSS"], "route": ["console:boss"]}
    async with world(folder, say, approvals=Approvals(tools={"free": gate})) as w:  # type: ignore[dict-item]
        (wait,) = (await w.turn("do free text=x")).waits
        assert (wait.approvers, wait.route) == (("slack:T:BOSS",), ("console:boss",))


async def test_a_run_whose_approvers_cannot_be_reached_is_told_and_asks_nobody(
    folder: Path,
) -> None:
    approvals = Approvals(approvers=("slack:T:U",), route=("slack:#ops",))  # there is no Slack
    async with world(folder, say, approvals=approvals) as w:
        done = await w.turn("do post text=x again", **HOOK, address="console:h")
        assert done.replies[0].text.count("Not available") == 2
        assert await w.store.view.waits(state=None) == []
        assert log_of(folder) == []


async def test_A5_what_nobody_answered_is_told_and_not_asked_again_in_the_run(folder: Path) -> None:
    async with world(folder, say) as w:
        await w.turn("do post text=x again")
        w.clock.time += 8 * 86_400_000
        w.store.wake_work()
        done = await w.work()
        assert "Nobody answered in time" in done.replies[0].text
        assert "nobody is asked again" in done.replies[0].text
        assert [wait.state for wait in await w.store.view.waits(state=None)] == ["expired"]
        assert isinstance(await w.turn("do post text=x"), Parked)  # another run may ask


async def test_A3_A16_two_questions_in_turn_outlive_restarts_and_days(folder: Path) -> None:
    settings: dict[str, Any] = {"approvals": Approvals(tools={"free": "always"})}  # type: ignore[dict-item]
    async with world(folder, say, **settings) as w:
        (first,) = (await w.turn("do free text=x again")).waits
    async with world(folder, say, **settings) as w:
        w.clock.time += 3 * 86_400_000
        await w.decide(first.id, "approve", digest=first.digest)
        (second,) = (await w.work()).waits
    async with world(folder, say, **settings) as w:
        w.clock.time += 4 * 86_400_000
        await w.decide(second.id, "approve", digest=second.digest)
        assert isinstance(await w.work(), Done)
    assert log_of(folder) == ["free x", "free x"]
