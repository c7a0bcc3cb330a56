from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from wakeful.cli.conversation import Rejected
from wakeful.cli.lines import Lines
from wakeful.cli.screen import Screen
from wakeful.cli.talk import Talk, decision_of

SOON = 10.0  # seconds; a busy machine
WAIT = {
    "id": "w1",
    "kind": "approval",
    "title": "May I pay?",
    "tool": "pay",
    "args": {"n": 1},
    "allowed": ["approve"],
}


class Partner:
    """A daemon that answers at once, unless it is told to wait for something."""

    def __init__(self) -> None:
        self.thread = ""
        self.said: list[tuple[str, str]] = []
        self.decisions: list[dict[str, Any]] = []
        self.stopped: list[int] = []
        self.go = asyncio.Event()
        self.refuses = ""
        self.wait = WAIT

    async def say(self, text: str) -> int:
        if self.refuses:
            raise Rejected(self.refuses, 400)
        self.thread = self.thread or f"console/t{len(self.said)}"
        self.said.append((self.thread, text))
        return len(self.said)

    async def follow(self, event: int) -> AsyncIterator[dict[str, Any]]:
        text = self.said[event - 1][1]
        if text in ("ask", "long"):
            yield update("state", "waiting" if text == "ask" else "running")
            await self.go.wait()
        yield update("reply", f"<{text}>")
        yield update("state", "failed" if text == "fail" else "done")

    async def waits(self, event: int) -> list[dict[str, Any]]:
        return [dict(self.wait)]

    async def decide(self, wait: dict[str, Any], decision: dict[str, Any]) -> None:
        self.decisions.append(decision)
        self.go.set()

    async def stop(self, event: int) -> bool:
        self.stopped.append(event)
        self.go.set()
        return True


def update(kind: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "text": text, "agent": "main", "detail": "", "call": ""}


class Asked(Screen):
    """A screen that says when a question stands on it."""

    def __init__(self) -> None:
        self.out, self.asked = io.StringIO(), asyncio.Event()
        super().__init__(self.out, tty=False)

    def wait(self, wait: dict[str, Any]) -> None:
        super().wait(wait)
        self.asked.set()


async def talk(typed: str, partner: Partner) -> tuple[int, str]:
    out = io.StringIO()
    reading, writing = os.pipe()
    os.write(writing, typed.encode())
    os.close(writing)
    try:
        async with asyncio.timeout(SOON):
            code = await Talk(partner, Screen(out, tty=False), Lines(reading)).run()  # type: ignore[arg-type]
    finally:
        os.close(reading)
    return code, out.getvalue()


async def test_each_line_is_a_turn_in_one_conversation() -> None:
    partner = Partner()
    code, out = await talk("hello\n\nagain\n", partner)
    assert (code, out) == (0, "<hello>\n<again>\n")
    assert partner.said == [("console/t0", "hello"), ("console/t0", "again")]


async def test_new_starts_afresh() -> None:
    partner = Partner()
    await talk("hello\n/new\nagain\n/new third", partner)
    assert [thread for thread, _ in partner.said] == ["console/t0", "console/t1", "console/t1"]
    assert partner.said[-1][1] == "/new third"  # the daemon clears that conversation


async def test_quit_ends_and_help_helps() -> None:
    partner = Partner()
    code, out = await talk("/help\n/quit\nhello\n", partner)
    assert code == 0 and "/stop" in out and partner.said == []


async def test_stop_reaches_the_run() -> None:
    partner = Partner()
    code, out = await talk("long\n/stop\nnext\n", partner)
    assert partner.stopped == [1]
    assert (code, out) == (0, "<long>\n<next>\n")


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("approve", {"decision": "approve"}),
        ("Yes", {"decision": "approve"}),
        ("reject too much", {"decision": "reject", "reason": "too much"}),
        ('edit {"n": 2}', {"decision": "edit", "args": {"n": 2}}),
    ],
)
async def test_a_wait_is_answered_in_the_chat(line: str, decision: dict[str, Any]) -> None:
    partner = Partner()
    code, out = await talk(f"ask\n{line}\nnext\n", partner)
    assert partner.decisions == [decision]
    assert "May I pay?" in out and out.endswith("<ask>\n<next>\n") and code == 0


async def test_other_words_do_not_answer_a_wait_and_nobody_is_kept() -> None:
    partner = Partner()
    code, out = await talk("ask\nperhaps\n", partner)
    assert partner.decisions == [] and code == 0
    assert "`wakeful approve w1` or `wakeful reject w1`" in out


QUESTION = {
    "id": "w2",
    "kind": "question",
    "title": "Which?",
    "tool": "ask_human",
    "args": {"question": "Which?", "options": ["red", "blue"]},
    "allowed": ["answer", "reject"],
}


async def test_a_question_takes_any_words() -> None:
    partner = Partner()
    partner.wait = QUESTION
    reading, writing = os.pipe()
    screen = Asked()
    session = asyncio.create_task(Talk(partner, screen, Lines(reading)).run())  # type: ignore[arg-type]
    os.write(writing, b"ask\n")
    async with asyncio.timeout(SOON):
        await screen.asked.wait()
        os.write(writing, b"no, the green one\n")
        os.close(writing)
        assert await session == 0
    os.close(reading)
    assert partner.decisions == [{"decision": "answer", "text": "no, the green one"}]
    assert "Which?\n  1. red\n  2. blue\n" in screen.out.getvalue()


async def test_a_question_that_nobody_answers_says_how_it_can_be() -> None:
    partner = Partner()
    partner.wait = QUESTION
    code, out = await talk("ask\n", partner)
    assert (code, partner.decisions) == (0, []) and '`wakeful answer w2 "..."`' in out


async def test_quit_at_a_question_leaves_it_open() -> None:
    partner = Partner()
    reading, writing = os.pipe()
    screen = Asked()
    session = asyncio.create_task(Talk(partner, screen, Lines(reading)).run())  # type: ignore[arg-type]
    os.write(writing, b"ask\n")
    async with asyncio.timeout(SOON):
        await screen.asked.wait()
        os.write(writing, b"/quit\n")  # the end of the input is not needed
        assert await session == 0
    os.close(writing)
    os.close(reading)
    assert partner.decisions == [] and "`wakeful approve w1`" in screen.out.getvalue()


def test_what_is_no_decision() -> None:
    for line in ("", "maybe", "yes please", "approve it", "edit", "edit x", "edit [1]"):
        assert decision_of(line) is None


async def test_a_refusal_and_a_failure_are_a_failure() -> None:
    partner = Partner()
    assert (await talk("fail\n", partner))[0] == 1
    partner.refuses = "'text' is too long."
    code, out = await talk("hello\n", partner)
    assert code == 1 and "[" + partner.refuses + "]" in out


async def test_lines_are_read_across_chunks_and_odd_bytes() -> None:
    reading, writing = os.pipe()
    lines = Lines(reading)
    for chunk in (b"on", b"e\ntw\xc3", b"\xb6\n\xff\nlast"):
        os.write(writing, chunk)
    os.close(writing)
    async with asyncio.timeout(SOON):
        got = [await lines.next() for _ in range(5)]
    os.close(reading)
    assert got == ["one", "twö", "\N{REPLACEMENT CHARACTER}", "last", None]
