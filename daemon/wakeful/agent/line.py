"""The line to a model: what bounds a call, when it is tried again, and who is asked instead.

A guarded model stays what it was (code that looks for `ChatAnthropic` still finds one); only its
methods that go over the network are wrapped. The SDK's own retries are off: they ignore a
Retry-After that is longer than they like, and what cannot be had within seconds belongs to the
worker, which can wait without holding anything.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar

from langchain_core.exceptions import ContextOverflowError, ModelTimeoutError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from wakeful.agent.failures import BrokenOff, Endless, Kind, kind_of, retry_after
from wakeful.backoff import Backoff
from wakeful.errors import RetryLater

log = logging.getLogger(__name__)

TOOLS = "wakeful_tools"  # the tools as they were bound, for a model that words them differently
BACKOFF = Backoff(1.0, 60.0)
PATIENCE = 5.0  # seconds that a call waits by itself before it tries again
TRIED_AGAIN: frozenset[Kind] = frozenset({"rate-limit", "outage", "broken-off"})
PASSED_ON: frozenset[Kind] = frozenset({*TRIED_AGAIN, "time-out", "auth", "quota"})
DONE_MARKS = frozenset({"finish_reason", "stop_reason", "done_reason", "status"})

Chunks = AsyncIterator[ChatGenerationChunk]


class Resting(RetryLater):
    """The provider asked to be left alone, and is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How long a model may take."""

    idle: float = 60.0  # seconds without a new piece
    total: float = 600.0  # seconds for one answer
    characters: int = 1_000_000  # of one answer
    tries: int = 2  # after the first
    says_done: bool = False  # this provider ends every stream with a reason


@dataclass(slots=True)
class Line:
    """One model's bounds, what it said about coming back, and the model to ask instead."""

    name: str
    bounds: Bounds = Bounds()
    instead: BaseChatModel | None = None
    backoff: Backoff = BACKOFF
    boot: Callable[[], float] = time.monotonic
    failures: int = 0
    rests_until: float = float("-inf")

    def pick_up(self) -> None:
        """Raise Resting while the provider wants to be left alone: nothing is sent meanwhile."""
        left = self.rests_until - self.boot()
        if left > 0:
            raise Resting(f"{self.name} asked to be left alone for {left:.0f} s more", left)

    def worked(self) -> None:
        self.failures, self.rests_until = 0, float("-inf")

    def failed(self, exc: Exception) -> Kind:
        """Remember what the provider said, for every call that comes after."""
        kind = kind_of(exc)
        if kind == "rate-limit" and not isinstance(exc, Resting):
            self.failures += 1
            asked = retry_after(exc)
            rest = self.backoff.delay(self.failures) if asked is None else asked
            self.rests_until = max(self.rests_until, self.boot() + rest)
        return kind

    async def again(self, kind: Kind, tried: int) -> bool:
        """Wait for the next try, when there is one and it is near."""
        if kind not in TRIED_AGAIN or tried >= self.bounds.tries:
            return False
        pause = self.backoff.delay(tried + 1)
        if kind == "rate-limit":
            pause = max(0.0, self.rests_until - self.boot())
        if pause > PATIENCE:
            return False
        await asyncio.sleep(pause)
        return True

    def other(self, exc: Exception, tools: Any) -> tuple[BaseChatModel, dict[str, Any]] | None:
        """The model to ask instead and what to bind to it; none when it could do no better."""
        if self.instead is None or kind_of(exc) not in PASSED_ON:
            return None
        message = "%s failed, its fallback is asked: %s"
        log.warning(message, self.name, type(exc).__name__, extra={"action": "model_fallback"})
        if tools is None:
            return self.instead, {}
        bound: Any = self.instead.bind_tools(tools[0], **tools[1])
        return self.instead, dict(bound.kwargs)


class Guarded:
    """Mixed into a model's class, in front of it."""

    line: ClassVar[Line]

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        """Bind, and keep the tools beside what they became, for a fallback."""
        bound = super().bind_tools(tools, tool_choice=tool_choice, **kwargs)  # type: ignore[misc]
        if self.line.instead is None:
            return bound
        return bound.bind(**{TOOLS: (tools, {"tool_choice": tool_choice})})

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        tools = kwargs.pop(TOOLS, None)
        ask = super()._agenerate  # type: ignore[misc]
        try:
            return await _persist(self.line, lambda: ask(messages, stop, run_manager, **kwargs))
        except Exception as exc:
            other = self.line.other(exc, tools)
            if other is None:
                raise
        return await other[0]._agenerate(messages, stop, run_manager, **other[1])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> Chunks:
        tools, begun = kwargs.pop(TOOLS, None), False
        ask = super()._astream  # type: ignore[misc]
        stream = _persist_stream(self.line, lambda: ask(messages, stop, run_manager, **kwargs))
        try:
            async with aclosing(stream):
                async for chunk in stream:
                    begun = True
                    yield chunk
            return
        except Exception as exc:
            other = None if begun else self.line.other(exc, tools)
            if other is None:
                raise
        async for chunk in other[0]._astream(messages, stop, run_manager, **other[1]):
            yield chunk


def guard(model: BaseChatModel, line: Line) -> BaseChatModel:
    """Put a model on its line."""
    kind = type(model)
    guarded = type(kind.__name__, (Guarded, kind), {"__module__": kind.__module__})
    guarded.line = line  # type: ignore[attr-defined]
    object.__setattr__(model, "__class__", guarded)
    return model


async def _persist(line: Line, ask: Callable[[], Awaitable[ChatResult]]) -> ChatResult:
    tried = 0
    while True:
        line.pick_up()
        try:
            result = await _within(line, ask)
        except Exception as exc:
            if not await line.again(line.failed(exc), tried):
                raise _one_overflow(exc) from exc
            tried += 1
        else:
            line.worked()
            return result


async def _within(line: Line, ask: Callable[[], Awaitable[ChatResult]]) -> ChatResult:
    scope = asyncio.timeout(line.bounds.total)
    try:
        async with scope:
            return await ask()
    except TimeoutError as exc:
        if scope.expired():
            raise Endless(f"{line.name} was not done after {line.bounds.total:g} s") from exc
        raise


async def _persist_stream(
    line: Line, ask: Callable[[], Chunks]
) -> AsyncGenerator[ChatGenerationChunk]:
    tried, begun = 0, False
    while True:
        line.pick_up()
        stream = _watch(line, ask())
        try:
            async with aclosing(stream):
                async for chunk in stream:
                    begun = True
                    yield chunk
        except Exception as exc:
            kind = line.failed(exc)
            if begun or not await line.again(kind, tried):  # what was shown cannot be taken back
                raise _one_overflow(exc) from exc
            tried += 1
        else:
            line.worked()
            return


def _one_overflow(exc: Exception) -> Exception:
    """A context that is too long gets one name: by it the agent knows that it must summarise."""
    if kind_of(exc) == "overflow" and not isinstance(exc, ContextOverflowError):
        return ContextOverflowError(str(exc))
    return exc


async def _watch(line: Line, stream: Any) -> AsyncGenerator[ChatGenerationChunk]:
    bounds, begin, size = line.bounds, line.boot(), 0
    done = not bounds.says_done
    async with aclosing(stream):
        while True:
            left = bounds.total - (line.boot() - begin)
            try:
                async with asyncio.timeout(min(bounds.idle, max(0.0, left))):
                    chunk: ChatGenerationChunk = await anext(stream)
            except StopAsyncIteration:
                break
            except TimeoutError as exc:
                if left <= bounds.idle:
                    raise Endless(f"{line.name} was not done after {bounds.total:g} s") from exc
                raise ModelTimeoutError(f"{line.name} was silent for {bounds.idle:g} s") from exc
            done = done or _says_done(chunk)
            size += _size(chunk)
            if size > bounds.characters:
                raise Endless(f"{line.name} wrote more than {bounds.characters} characters")
            yield chunk
    if not done:
        raise BrokenOff(f"{line.name} hung up before it was done")


def _says_done(chunk: ChatGenerationChunk) -> bool:
    said: Mapping[str, Any] = chunk.generation_info or {}
    return bool(DONE_MARKS & (said.keys() | chunk.message.response_metadata.keys()))


def _size(chunk: ChatGenerationChunk) -> int:
    message = chunk.message
    size = len(message.content) if isinstance(message.content, str) else len(chunk.text)
    if isinstance(message, AIMessageChunk):
        size += sum(len(call["args"] or "") for call in message.tool_call_chunks)
    return size
