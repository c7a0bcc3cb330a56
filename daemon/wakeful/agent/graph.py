"""From an agent folder to a graph. ONE function makes the middleware of every agent in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepagents import FilesystemMiddleware, SubAgent, create_deep_agent
from deepagents.backends import CompositeBackend, FilesystemBackend
from deepagents.backends.protocol import BackendProtocol
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel

from wakeful.agent.calls import Calls, Journal
from wakeful.agent.library import Library
from wakeful.agent.live import LIBRARY, OVERFLOW, Artefacts, Live
from wakeful.agent.policy import Policy
from wakeful.agent.quiet import Quiet, UnsupportedContentMiddleware
from wakeful.agent.saver import Saver
from wakeful.agent.summary import SummarizationMiddleware
from wakeful.agent.thinking import Thinking
from wakeful.agent.todos import TodoListMiddleware
from wakeful.agent.tools import as_tool
from wakeful.agent.workspace import Workspace
from wakeful.host import Host
from wakeful.outbound import Hosts
from wakeful.plugs import Snapshot, SubAgentSpec
from wakeful.skills.trust import Pins
from wakeful.tool import Traits

MAIN = "main"
HELPER = "general-purpose"
HELPER_DESCRIPTION = (
    "A helper with the same tools as you and a context of its own. Hand it a self-contained piece "
    "of work that would fill your own context: a search through many files, a comparison, a longer "
    "study. It sees only what you write into the description, and answers once."
)
SILENT = ("PatchToolCallsMiddleware", "_ParentNotifierMiddleware")  # defaults with a node each
LARGE_RESULT = 20_000  # tokens of a tool's result that go to a file instead
LARGE_MESSAGE = 50_000  # tokens, the same for what came in


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a graph is built from, beside the folder's content."""

    model: BaseChatModel
    models: Mapping[str, BaseChatModel]  # of sub-agents that name their own
    snapshot: Callable[[], Snapshot]
    pins: Callable[[], Pins]  # versions of skills that a person has seen
    workspace: Workspace
    overflow: Path
    saver: Saver
    journal: Journal
    host: Host | None
    artefacts: Artefacts | None
    zone: str
    steps: int
    context: int


@dataclass(frozen=True, slots=True)
class Built:
    graph: CompiledStateGraph[Any, Any, Any, Any]
    fingerprint: str
    gated: frozenset[str]  # tools that ask a person first


def build(parts: Parts, snapshot: Snapshot) -> Built:
    """Takes 35 to 100 ms; run it off the loop."""
    backend = backend_of(parts)
    tools = {spec.name: as_tool(spec.name, spec.function) for spec in snapshot.tools}
    traits = {spec.name: spec.traits for spec in snapshot.tools}
    stack = _Stack(parts, backend, traits, tools)
    helpers = [_helper(parts, stack, tools)]
    helpers += [_specialist(parts, stack, tools, spec) for spec in snapshot.subagents]
    main = stack.of(MAIN, tools, parts.model, prompt=None)
    graph = create_deep_agent(
        parts.model,
        list(tools.values()),
        middleware=main,
        subagents=helpers,
        backend=backend,
        checkpointer=parts.saver,
    )
    gated = frozenset(name for name, of in traits.items() if of.asks)
    return Built(graph, _fingerprint(graph, main, helpers, gated), gated)


def backend_of(parts: Parts) -> BackendProtocol:
    parts.overflow.mkdir(parents=True, exist_ok=True, mode=0o700)
    return CompositeBackend(
        default=parts.workspace,
        routes={
            LIBRARY: Library(lambda: parts.snapshot().skills, parts.pins),
            f"{OVERFLOW}/": FilesystemBackend(parts.overflow, virtual_mode=True),
        },
        artifacts_root=OVERFLOW,
    )


@dataclass(frozen=True, slots=True)
class _Stack:
    parts: Parts
    backend: BackendProtocol
    traits: Mapping[str, Traits]
    tools: Mapping[str, BaseTool]

    def of(
        self, agent: str, tools: Mapping[str, BaseTool], model: BaseChatModel, *, prompt: str | None
    ) -> list[AgentMiddleware[Any, Any, Any]]:
        """The middleware of one agent. Names of defaults replace these in place."""
        parts = self.parts
        live = Live(parts.snapshot, parts.pins, parts.artefacts, zone=parts.zone, prompt=prompt)
        schemas = {
            name: tool.args_schema
            for name, tool in tools.items()
            if isinstance(tool.args_schema, type) and issubclass(tool.args_schema, BaseModel)
        }
        policy = Policy(agent, self.traits, schemas)
        silent = SILENT if agent == MAIN else SILENT[:1]
        return [
            FilesystemMiddleware(
                backend=self.backend,
                tool_token_limit_before_evict=LARGE_RESULT,
                human_message_token_limit_before_evict=LARGE_MESSAGE,
            ),
            SummarizationMiddleware(model, backend=self.backend, context=parts.context),
            *(Quiet(name) for name in silent),
            TodoListMiddleware(),
            Thinking(agent, live, steps=parts.steps),
            Calls(
                policy,
                parts.journal,
                parts.host,
                steps=parts.steps,
                hosts=lambda: Hosts(parts.snapshot().settings.trust.hosts),
            ),
            UnsupportedContentMiddleware(),
        ]


def _helper(parts: Parts, stack: _Stack, tools: Mapping[str, BaseTool]) -> SubAgent:
    return SubAgent(
        name=HELPER,
        description=HELPER_DESCRIPTION,
        system_prompt="",
        model=parts.model,
        tools=list(tools.values()),
        middleware=stack.of(HELPER, tools, parts.model, prompt=None),
    )


def _specialist(
    parts: Parts, stack: _Stack, tools: Mapping[str, BaseTool], spec: SubAgentSpec
) -> SubAgent:
    own = tools if spec.tools is None else {n: tools[n] for n in spec.tools if n in tools}
    model = parts.models.get(spec.model, parts.model)
    return SubAgent(
        name=spec.name,
        description=spec.description,
        system_prompt="",
        model=model,
        tools=list(own.values()),
        middleware=stack.of(spec.name, own, model, prompt=spec.prompt),
    )


def _fingerprint(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    main: Sequence[AgentMiddleware[Any, Any, Any]],
    helpers: Sequence[SubAgent],
    gated: frozenset[str],
) -> str:
    """What an unfinished thread depends on: nodes, middleware, and which tools ask first."""
    names = [m.name for m in main]
    text = json.dumps(
        [sorted(graph.nodes), names, sorted(gated), sorted(h["name"] for h in helpers)]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
