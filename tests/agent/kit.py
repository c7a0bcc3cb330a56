"""A scripted model, a clock, and an agent on a real store: what the tests of this room share."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr

from wakeful.agent import Agent, build_agent
from wakeful.config import Settings
from wakeful.events import Claim, Decision, Event
from wakeful.plugs import Folder
from wakeful.store import Store, open_store

Say = Callable[[Sequence[BaseMessage]], AIMessage]


def call(name: str, id: str, /, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def calls(*made: dict[str, Any], text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=list(made))


class Scripted(BaseChatModel):
    """Answers what a function says; remembers what it was asked."""

    say: Say
    profile: Any = None
    _asked: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[list[str]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def asked(self) -> list[list[BaseMessage]]:
        return self._asked

    @property
    def tools(self) -> list[list[str]]:
        return self._tools

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self._tools.append(
            [t["function"]["name"] if isinstance(t, dict) else t.name for t in tools]
        )
        return self.bind(tools=tools)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self._asked.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.say(messages))])

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self._asked.append(messages)
        message = self.say(messages)
        for word in message.text.split(" ") if message.text else ():
            yield ChatGenerationChunk(message=AIMessageChunk(content=word + " "))
        if message.tool_calls:
            yield ChatGenerationChunk(
                message=AIMessageChunk(
                    content="",
                    tool_call_chunks=[
                        {
                            "name": c["name"],
                            "args": json.dumps(c["args"]),
                            "id": c["id"],
                            "index": i,
                            "type": "tool_call_chunk",
                        }
                        for i, c in enumerate(message.tool_calls)
                    ],
                )
            )


def turn(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What came after the newest message of a person."""
    last = max(i for i, m in enumerate(messages) if isinstance(m, HumanMessage))
    return list(messages[last + 1 :])


def results(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Results of this turn's tool calls, by call id."""
    return {m.tool_call_id: m.text for m in turn(messages) if isinstance(m, ToolMessage)}


def heard(messages: Sequence[BaseMessage]) -> str:
    return next(m.text for m in reversed(messages) if isinstance(m, HumanMessage))


class Clock:
    def __init__(self, now: int = 1_800_000_000_000) -> None:
        self.time = now

    def now(self) -> int:
        self.time += 1
        return self.time

    def boot(self) -> float:
        return self.time / 1000


class World:
    """One agent on one store; the test plays the worker."""

    def __init__(
        self, agent: Agent, store: Store, model: Scripted, folder: Path, clock: Clock
    ) -> None:
        self.agent, self.store, self.model, self.folder = agent, store, model, folder
        self.clock = clock

    async def accept(self, text: str, *, thread: str = "console/a", **more: Any) -> int:
        event = Event(
            source="console",
            keys=(f"console/{thread}/{uuid.uuid4()}",),
            principal="console:operator",
            thread_key=thread,
            text=text,
            channel="console",
            address=f"console:{thread.partition('/')[2]}",
        )
        return (await self.store.accept(replace(event, **more))).seq

    async def claim(self) -> Claim:
        (claim,) = await self.store.claim(1)
        return claim

    async def run(
        self, claim: Claim, *, emit: Any = None, stop: asyncio.Event | None = None
    ) -> Any:
        return await self.agent.run(claim, emit=emit, stop=stop)

    async def turn(self, text: str, **more: Any) -> Any:
        """Accept, claim, run, and commit what came of it."""
        await self.accept(text, **more)
        return await self.work()

    async def work(self, **more: Any) -> Any:
        claim = await self.claim()
        found = await self.run(claim, **more)
        await self.commit(claim, found)
        return found

    async def commit(self, claim: Claim, found: Any) -> None:
        kind = type(found).__name__
        if kind == "Done":
            await self.store.finish(claim, found)
        elif kind == "Parked":
            await self.store.park(claim, found)
        else:
            await self.store.retry(claim, found, at=0)

    async def effects(self) -> list[tuple[str, str]]:
        """Tool and state of each journaled call, in the order in which they began."""
        rows = await self.store.db.run(
            lambda s: s.raw.execute("SELECT tool, state FROM effect ORDER BY started_at").fetchall()
        )
        return [(row[0], row[1]) for row in rows]

    async def decide(self, wait: str, verdict: Any, **more: Any) -> None:
        decision = Decision(verdict=verdict, by="console:operator", **more)
        await self.store.decide(wait, decision, key=f"console/decision/{wait}")


@asynccontextmanager
async def world(
    folder: Path, say: Say, *, model: Scripted | None = None, host: Any = None, **settings: Any
) -> AsyncIterator[World]:
    scripted = model if model is not None else Scripted(say=say)
    clock = Clock()
    (folder / "agent.toml").touch()
    given: dict[str, Any] = {"model": "scripted"} | settings
    options = Settings(**given)

    async def make(*_: Any, **__: Any) -> BaseChatModel:
        return scripted

    url = f"sqlite:///{folder}/.wakeful/state.db"
    async with open_store(url, clock=clock, owner="test") as store:
        await store.recover()
        agent = await build_agent(
            options, Folder(folder, options), store, clock, host, make_model=make
        )
        yield World(agent, store, scripted, folder, clock)


async def graph_of(w: World, thread: str = "console/a") -> str:
    """The graph thread of a conversation."""
    row = await w.store.db.run(
        lambda s: s.raw.execute(
            "SELECT graph_id FROM thread WHERE thread_key = ?", (thread,)
        ).fetchone()
    )
    return str(row[0])


async def state_of(w: World, thread: str = "console/a") -> list[BaseMessage]:
    """The messages of a conversation, as the next run will find them."""
    runner = w.agent._runner
    assert runner is not None
    where = {"configurable": {"thread_id": await graph_of(w, thread)}}
    snapshot = await runner.graph.aget_state(where)  # type: ignore[arg-type]
    messages: list[BaseMessage] = snapshot.values.get("messages", [])
    return messages
