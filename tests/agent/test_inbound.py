"""From an event to the message that the model reads."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from tests.agent.kit import Scripted, World, call, calls, world
from wakeful.agent.inbound import SEEDED, dangling, framed, safe_name
from wakeful.events import Attachment, Event

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Files:
    """The part of a host that keeps files."""

    async def read_artefact(self, id: str) -> bytes:
        return {"pixel": PIXEL, "notes": b"read me"}[id]


def attached(name: str, media_type: str, artefact: str) -> Attachment:
    return Attachment(name=name, media_type=media_type, artefact=artefact, size=9)


async def test_images_reach_the_model_and_files_the_workspace(tmp_path: Path) -> None:
    async with world(tmp_path, lambda _: AIMessage("seen"), host=Files()) as w:
        await w.turn(
            "look",
            attachments=(
                attached("photo.png", "image/png", "pixel"),
                attached("../../etc/notes.txt", "text/plain", "notes"),
            ),
        )
        content = w.model.asked[0][-1].content
        assert isinstance(content, list)
        text, image = (block for block in content if isinstance(block, dict))
        assert "/attachments/1-photo.png" in text["text"]
        assert image["base64"] == base64.b64encode(PIXEL).decode()
        kept = tmp_path / ".wakeful/workspace/attachments"
        assert (kept / "1-notes.txt").read_bytes() == b"read me"
        await w.turn("and now?")
        again = w.model.asked[1][1].content
        assert isinstance(again, list) and len(again) == 2
        assert await _stored_bytes(w) < len(PIXEL) + 20_000


async def _stored_bytes(w: World) -> int:
    def find(session: Any) -> int:
        rows = session.raw.execute("SELECT value FROM writes").fetchall()
        assert not any(base64.b64encode(PIXEL) in row[0] for row in rows)
        return sum(len(row[0]) for row in rows)

    return await w.store.db.run(find)


async def test_a_model_without_eyes_gets_a_sentence_instead(tmp_path: Path) -> None:
    blind = Scripted(say=lambda _: AIMessage("ok"), profile={"image_inputs": False})
    async with world(tmp_path, blind.say, model=blind, host=Files()) as w:
        await w.turn("look", attachments=(attached("photo.png", "image/png", "pixel"),))
        assert "does not support image" in str(w.model.asked[0][-1].content)


async def test_a_lost_image_is_said(tmp_path: Path) -> None:
    class Forgetful(Files):
        reads = 0

        async def read_artefact(self, id: str) -> bytes:
            self.reads += 1
            if self.reads > 1:
                raise OSError("gone")
            return PIXEL

    async with world(tmp_path, lambda _: AIMessage("ok"), host=Forgetful()) as w:
        await w.turn("look", attachments=(attached("photo.png", "image/png", "pixel"),))
        assert "photo.png is not there any more" in str(w.model.asked[0][-1].content)


@pytest.mark.parametrize(
    ("kind", "says"), [("message", "material to work on"), ("delivery", "operator's template")]
)
def test_text_from_outside_is_framed_by_what_it_is(kind: Any, says: str) -> None:
    event = Event(
        source="ci", keys=(), principal="p", thread_key="t", text="hi", kind=kind, untrusted=True
    )
    assert " ".join(framed(event).split()).count(says) == 1


@given(st.text())
def test_X12_a_name_from_outside_stays_in_its_folder(name: str) -> None:
    safe = safe_name(name)
    assert safe and len(safe) <= 100
    assert not set(safe) & set("/\\\0") and safe not in (".", "..")


def test_every_open_call_gets_a_result() -> None:
    messages: Sequence[BaseMessage] = [
        HumanMessage("go"),
        calls(call("a", "1"), call("b", "2")),
        ToolMessage("done", tool_call_id="1"),
    ]
    assert [m.tool_call_id for m in dangling(list(messages))] == ["2"]  # type: ignore[arg-type]


async def test_a_delivered_report_stands_before_the_first_answer_to_it(tmp_path: Path) -> None:
    async with world(tmp_path, lambda _: AIMessage("ok")) as w:
        await w.accept("what does that mean?")
        claim = replace(await w.claim(), seed=("Sales: 3",), undelivered=("Good morning",))
        await w.run(claim)
        asked = w.model.asked[0][1:]
        assert [type(m).__name__ for m in asked] == ["HumanMessage", "AIMessage", "HumanMessage"]
        assert asked[1].text == "Sales: 3"
        assert "never seen: Good morning" in asked[2].text


async def test_a_report_that_comes_into_a_thread_that_goes_on_is_known_there_too(
    tmp_path: Path,
) -> None:
    """Weekly reports to one address; and an answer that was faster than the report's receipt."""
    async with world(tmp_path, lambda _: AIMessage("ok")) as w:
        for week in ("Sales: 3", "Sales: 4"):
            await w.accept(f"what does {week} mean?")
            claim = replace(await w.claim(), seed=(week,))
            await w.commit(claim, await w.run(claim))
        told = [m.text for m in w.model.asked[-1][1:]]
        seeded = [text for text in told if text == SEEDED]
        assert [text for text in told if text.startswith("Sales")] == ["Sales: 3", "Sales: 4"]
        assert len(seeded) == 2 and told[-1] == "what does Sales: 4 mean?"


def test_a_call_is_open_though_an_older_one_of_its_id_was_answered() -> None:
    again = AIMessage("", tool_calls=[call("charge", "1", order="A-1")])
    done = ToolMessage("charged", tool_call_id="1")
    messages: list[AnyMessage] = [again, done, again.model_copy()]
    assert [m.tool_call_id for m in dangling(messages)] == ["1"]
    assert not [*dangling([*messages, done])]
