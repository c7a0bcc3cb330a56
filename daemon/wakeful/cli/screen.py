"""The terminal: text as it is written, and a line for whatever else the agent does."""

from __future__ import annotations

import json
from typing import Any, TextIO

PROMPT = "> "
HELP = "/new starts afresh, /stop stops what runs, /quit ends."


class Screen:
    """Prints updates; what comes from outside cannot steer the terminal."""

    def __init__(self, out: TextIO, *, tty: bool) -> None:
        self._out, self._tty = out, tty
        self._text, self._column = "", 0  # what was streamed since the last line of our own

    def prompt(self) -> None:
        if self._tty:
            self._write(PROMPT)
            self._column = 0

    def line(self, text: str) -> None:
        """A line of its own, after whatever stands there."""
        self.end_line()
        self._write(f"{text}\n")
        self._text = ""

    def aside(self, text: str) -> None:
        """For a person at the terminal only; not part of what a pipe carries on."""
        if self._tty:
            self.line(text)

    def end_line(self) -> None:
        if self._column:
            self._write("\n")
            self._column = 0

    def show(self, update: dict[str, Any]) -> None:
        """One update of the stream."""
        shower = getattr(self, f"_on_{update['kind'].replace('-', '_')}", None)
        if shower:
            shower(update)

    def wait(self, wait: dict[str, Any]) -> None:
        """A question, with all that one must know to answer it."""
        self.line(f"? {wait['title']}")
        if wait["kind"] == "question":
            for number, option in enumerate(wait["args"].get("options") or (), 1):
                self.line(f"  {number}. {option}")
            self.aside("  Type your answer.")
            return
        if wait["tool"]:
            args = json.dumps(wait["args"], indent=2, ensure_ascii=False)
            self.line(f"  {wait['tool']} {args}")
        words = {"approve": "approve", "reject": "reject [why]", "edit": "edit {arguments}"}
        allowed = [words[verdict] for verdict in wait["allowed"] if verdict in words]
        self.aside(f"  Type {', '.join(allowed)}.")

    def _on_text(self, update: dict[str, Any]) -> None:
        text = str(update["text"])
        if update["detail"] == "snapshot":
            if text.startswith(self._text):
                text = text[len(self._text) :]
            else:
                self.end_line()
                self._text = ""
        self._text += text
        self._write(text)
        self._column = len(self._text.rpartition("\n")[2])

    def _on_tool(self, update: dict[str, Any]) -> None:
        self.line(f"  [{_who(update)}{update['text']} ...]")

    def _on_tool_end(self, update: dict[str, Any]) -> None:
        if update["detail"]:
            self.line(f"  [{_who(update)}{update['text']}: {update['detail']}]")

    def _on_agent(self, update: dict[str, Any]) -> None:
        self.line(f"  [{_who(update)}{update['text']} starts]")

    def _on_agent_end(self, update: dict[str, Any]) -> None:
        self.line(f"  [{_who(update)}{update['text']} {update['detail'] or 'is done'}]")

    def _on_reply(self, update: dict[str, Any]) -> None:
        if update["text"].strip() != self._text.strip():
            self.line(update["text"])
        self.end_line()
        self._text = ""

    def _on_state(self, update: dict[str, Any]) -> None:
        if update["text"] == "silent":
            self.line("  [It chose to say nothing.]")
        elif update["text"] == "failed":
            self.line(f"  [It failed: {update['detail']}]")
        elif update["text"] == "queued" and update["detail"]:
            self.line(f"  [It is tried again: {update['detail']}]")

    def _on_lost(self, update: dict[str, Any]) -> None:
        self.line("  [The daemon does not answer; waiting for it. Nothing is lost.]")

    def _write(self, text: str) -> None:
        self._out.write(harmless(text))
        self._out.flush()


def harmless(text: str) -> str:
    """Text that cannot move the cursor, change colours or set titles."""
    shown = (
        one if one in "\n\t" or one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text
    )
    return "".join(shown)


def _who(update: dict[str, Any]) -> str:
    return "" if update["agent"] == "main" else f"{update['agent']}: "
