from __future__ import annotations

import io
from typing import Any

import pytest

from wakeful.cli.screen import Screen, harmless


class Watched:
    def __init__(self, *, tty: bool = False) -> None:
        self.out = io.StringIO()
        self.screen = Screen(self.out, tty=tty)

    def show(self, kind: str, text: str = "", **more: Any) -> None:
        self.screen.show({"kind": kind, "agent": "main", "text": text, "detail": "", **more})

    @property
    def text(self) -> str:
        return self.out.getvalue()


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_text_comes_as_it_is_written_and_is_not_repeated(watched: Watched) -> None:
    for piece in ("Hel", "lo\nthe", "re"):
        watched.show("text", piece)
    watched.show("reply", "Hello\nthere")
    assert watched.text == "Hello\nthere\n"


def test_a_reply_that_was_not_streamed_is_shown(watched: Watched) -> None:
    watched.show("reply", "Hello")
    assert watched.text == "Hello\n"


def test_what_the_agent_does_has_lines_of_its_own(watched: Watched) -> None:
    watched.show("text", "Let me see")
    watched.show("tool", "search", call="1")
    watched.show("tool-end", "search", call="1")
    watched.show("agent", "researcher", call="2")
    watched.show("tool", "fetch", agent="researcher", call="3")
    watched.show("tool-end", "fetch", agent="researcher", call="3", detail="failed")
    watched.show("agent-end", "researcher", call="2")
    watched.show("text", "Found it.")
    watched.show("reply", "Found it.")
    assert watched.text.splitlines() == [
        "Let me see",
        "  [search ...]",
        "  [researcher starts]",
        "  [researcher: fetch ...]",
        "  [researcher: fetch: failed]",
        "  [researcher is done]",
        "Found it.",
    ]


def test_a_snapshot_goes_on_where_the_screen_stands(watched: Watched) -> None:
    watched.show("text", "One two")
    watched.show("text", "One two three", detail="snapshot")
    watched.show("text", "Another", detail="snapshot")
    watched.show("reply", "Another")
    assert watched.text == "One two three\nAnother\n"


def test_ends_that_say_nothing_are_said(watched: Watched) -> None:
    watched.show("state", "silent")
    watched.show("state", "failed", detail="no key")
    watched.show("state", "queued", detail="429")
    watched.show("state", "running")
    watched.show("lost")
    assert watched.text.count("\n") == 4 and "no key" in watched.text and "429" in watched.text


def test_X16_output_cannot_steer_the_terminal(watched: Watched) -> None:
    hostile = "\x1b]0;title\x07\x1b[2J\x9b31m\r\u202eevil\x00 fine ü \N{SNOWMAN}\tx"
    watched.show("text", hostile)
    watched.show("tool", hostile)
    wait = {"title": hostile, "tool": hostile, "args": {"a": hostile}, "allowed": []}
    watched.screen.wait({"kind": "approval", **wait})
    watched.screen.wait({"kind": "question", **wait, "args": {"options": [hostile]}})
    assert not {"\x1b", "\x9b", "\r", "\x07", "\x00", "\u202e"} & set(watched.text)
    assert harmless("fine ü \N{SNOWMAN}\tx\n") == "fine ü \N{SNOWMAN}\tx\n"


def test_a_pipe_gets_no_prompt_and_no_asides(watched: Watched) -> None:
    watched.screen.prompt()
    watched.screen.aside("help")
    assert watched.text == ""
    person = Watched(tty=True)
    person.screen.prompt()
    assert person.text == "> "
