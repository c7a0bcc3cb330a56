"""The loop between what is typed and what happens."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import deque
from collections.abc import Coroutine
from typing import Any

import httpx

from wakeful.cli.conversation import Conversation, Rejected, Row
from wakeful.cli.exits import FAILED, INTERRUPTED, OK
from wakeful.cli.lines import Lines
from wakeful.cli.screen import HELP, Screen

STOP = "/stop"
QUIT = frozenset({"/quit", "/exit"})
YES, NO = frozenset({"approve", "yes", "y"}), frozenset({"reject", "no", "n"})
QUESTION = "question"
KEPT = "[It is kept for later: the question comes first.]"
SHORT = 8  # characters of an id, which are enough to name it


class Left(Exception):
    """There is a question, and nobody is left to answer it."""


class Talk:
    """One person's session; lines typed during a run are kept for after it, or answer it."""

    def __init__(self, conversation: Conversation, screen: Screen, lines: Lines) -> None:
        self._with, self._screen, self._lines = conversation, screen, lines
        self._kept: deque[str] = deque()
        self._ended = False  # no more lines come
        self._event: int | None = None  # that runs
        self._stopping: int | None = None  # that was asked to stop by Ctrl-C
        self._waits: list[Row] = []
        self._failed = False

    async def run(self) -> int:
        """Until the input ends; the exit code."""
        loop, main = asyncio.get_running_loop(), asyncio.current_task()
        assert main is not None
        loop.add_signal_handler(signal.SIGINT, self._interrupted, main)
        self._screen.aside(HELP)
        try:
            while (line := await self._next_line()) is not None:
                await self._obey(line.strip())
        except asyncio.CancelledError:
            self._screen.end_line()
            return INTERRUPTED
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        if self._with.thread:
            self._screen.aside(f"Go on with it: wakeful chat --thread {self._with.thread}")
        return FAILED if self._failed else OK

    def _interrupted(self, main: asyncio.Task[Any]) -> None:
        """Ctrl-C stops the run; once more, or at the prompt, it ends the session."""
        if self._event in (None, self._stopping) or self._ended:
            main.cancel()
        else:
            self._stopping = self._event
            self._lines.put(STOP)

    async def _next_line(self) -> str | None:
        if self._kept:
            return self._kept.popleft()
        if self._ended:
            return None
        self._screen.prompt()
        return await self._lines.next()

    async def _obey(self, line: str) -> None:
        if line in QUIT:
            self._ended = True
            self._kept.clear()
        elif line == "/new":
            self._with.thread = ""
            self._screen.aside("A new conversation.")
        elif line == STOP:
            self._screen.aside("Nothing runs.")
        elif line.startswith("/") and not line.startswith("/new "):
            self._screen.line(HELP)
        elif line:
            await self._turn(line)

    async def _turn(self, text: str) -> None:
        try:
            self._event = await self._with.say(text)
            await self._both(self._watch(self._event), self._listen(self._event))
        except Left:
            self._screen.line(left(self._waits))
        except Rejected as error:
            self._failed = True
            self._screen.line(f"[{error}]")
        finally:
            self._event, self._waits = None, []
            self._screen.end_line()

    async def _both(
        self, watching: Coroutine[Any, Any, None], listening: Coroutine[Any, Any, None]
    ) -> None:
        """Listen for as long as there is something to watch."""
        watch, listen = asyncio.create_task(watching), asyncio.create_task(listening)
        try:
            done, _ = await asyncio.wait({watch, listen}, return_when=asyncio.FIRST_COMPLETED)
            if watch not in done:
                await listen
            await watch
        finally:
            watch.cancel()
            listen.cancel()
            await asyncio.gather(watch, listen, return_exceptions=True)

    async def _watch(self, event: int) -> None:
        async for update in self._with.follow(event):
            self._screen.show(update)
            if update["kind"] == "state":
                await self._entered(event, update["text"])

    async def _entered(self, event: int, state: str) -> None:
        self._failed = self._failed or state == "failed"
        self._waits = await self._with.waits(event) if state == "waiting" else []
        for wait in self._waits:
            self._screen.wait(wait)
        if self._waits and self._waits[0]["kind"] != QUESTION:
            for line in list(self._kept):
                if decision_of(line):
                    self._kept.remove(line)
                    await self._heard(event, line)
        if self._waits and self._ended:
            raise Left

    async def _listen(self, event: int) -> None:
        """Lines while it runs."""
        while not self._ended:
            line = await self._lines.next()
            if line is None:
                self._ended = True
                if self._waits:
                    raise Left
            else:
                await self._heard(event, line.strip())

    async def _heard(self, event: int, line: str) -> None:
        try:
            if line == STOP:
                await self._with.stop(event)
            elif self._waits and (decision := decision_for(self._waits[0], line)):
                await self._with.decide(self._waits.pop(0), decision)
            elif self._waits and line in QUIT:
                self._ended = True
                raise Left
            elif line:
                self._kept.append(line)
                if self._waits:
                    self._screen.aside(KEPT)
        except Rejected as error:
            self._screen.line(f"[{error}]")
        except (httpx.TransportError, OSError):
            self._screen.line("[The daemon does not answer; type it again in a moment.]")


def left(waits: list[Row]) -> str:
    """How the questions can be answered when this session is over."""
    return f"[It waits for an answer: {'; '.join(_ways(wait) for wait in waits)}.]"


def _ways(wait: Row) -> str:
    id = str(wait["id"])[:SHORT]
    if wait["kind"] == QUESTION:
        return f'`wakeful answer {id} "..."`'
    return f"`wakeful approve {id}` or `wakeful reject {id}`"


def decision_for(wait: Row, line: str) -> Row | None:
    """A line as the answer to this question; a question takes any words that are no command."""
    if wait["kind"] != QUESTION:
        return decision_of(line)
    text = line.strip()
    return {"decision": "answer", "text": text} if text and text not in QUIT else None


def decision_of(line: str) -> Row | None:
    """A line as the answer to a question, or None when it is something else."""
    word, _, rest = line.strip().partition(" ")
    word, rest = word.lower(), rest.strip()
    if word in YES and not rest:
        return {"decision": "approve"}
    if word in NO:
        return {"decision": "reject", "reason": rest}
    if word == "edit":
        try:
            args = json.loads(rest)
        except ValueError:
            return None
        return {"decision": "edit", "args": args} if isinstance(args, dict) else None
    return None
