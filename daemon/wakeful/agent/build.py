"""From a folder to a working agent, and to a new one when the folder changes; never on the loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from langchain_core.language_models import BaseChatModel

from wakeful.agent.current import Emit
from wakeful.agent.graph import Built, Parts, build
from wakeful.agent.models import build_model
from wakeful.agent.overflow import sweep
from wakeful.agent.runner import Means, Runner
from wakeful.agent.saver import Saver
from wakeful.agent.tracing import set_tracing
from wakeful.agent.workspace import Workspace
from wakeful.config import FileRule, Settings
from wakeful.events import Claim, Outcome
from wakeful.host import Clock, Host
from wakeful.plugs import Folder, Snapshot
from wakeful.secrets import Secrets, open_secrets
from wakeful.skills.trust import PINNED, Pins
from wakeful.store import Store, pinned

log = logging.getLogger(__name__)

ModelMaker = Callable[..., Awaitable[BaseChatModel]]

SCAN = 1.0  # seconds between two looks at the folder
SWEEP = 86_400_000  # ms between two looks at what grew too large for its thread
REBUILD = 30.0  # seconds until a folder that makes no agent is tried again
PRIVATE = ".wakeful"


class Agent:
    """The agent of one folder. An edit reaches the next event, in threads that exist too."""

    def __init__(
        self,
        folder: Folder,
        store: Store,
        clock: Clock,
        host: Host | None,
        secrets: Secrets,
        make_model: ModelMaker,
    ) -> None:
        self._folder, self._store, self._clock, self._host = folder, store, clock, host
        self._secrets, self._make_model = secrets, make_model
        private = folder.path / PRIVATE
        self._workspace = Workspace(private / "workspace", self._file_rules)
        self._overflow = private / "overflow"
        self._saver = Saver(store.db)
        self._changing = asyncio.Lock()
        self._scanned = float("-inf")
        self._swept = clock.now()
        self._snapshot: Snapshot | None = None
        self._pins: Pins = {}
        self._models: dict[tuple[str, str], BaseChatModel] = {}
        self._shape: object = None
        self._runner: Runner | None = None

    @property
    def fingerprint(self) -> str:
        return self._runner.fingerprint if self._runner else ""

    async def run(self, claim: Claim, *, emit: Emit | None, stop: asyncio.Event | None) -> Outcome:
        """Run or resume one event. Raises Drained at the next safe point once `stop` is set."""
        runner = await self._current()
        return await runner.run(claim, emit=emit, stop=stop)

    async def repair(self, claim: Claim, text: str) -> None:
        """Close whatever the event left open in its thread, so that the next one can run."""
        await (await self._current()).repair(claim, text)

    async def compact(self, graph_id: str) -> bool:
        """Shrink the graph thread of an idle conversation."""
        return await (await self._current()).threads.compact(graph_id)

    async def refresh(self) -> None:
        """Build the first graph, or a new one if the folder has changed."""
        async with self._changing:
            self._scanned = self._clock.boot()
            snapshot = await asyncio.to_thread(self._folder.scan)
            found = await pinned(self._store.view, PINNED)
            self._pins = {name: pin["digest"] for name, pin in found.items()}
            await self._sweep(snapshot.settings.retention.artefacts)
            if self._snapshot is not None and snapshot.digest == self._snapshot.digest:
                return
            shape = _shape_of(snapshot)
            if shape != self._shape:
                await self._rebuild(snapshot)
                self._shape = shape
            self._snapshot = snapshot

    async def _sweep(self, days: int) -> None:
        now = self._clock.now()
        if now - self._swept >= SWEEP:
            self._swept = now
            await asyncio.to_thread(sweep, self._overflow, now / 1000 - days * 86_400)

    async def _current(self) -> Runner:
        if self._clock.boot() - self._scanned >= SCAN or self._runner is None:
            try:
                await self.refresh()
            except Exception as error:
                if self._runner is None:
                    raise
                self._scanned = self._clock.boot() + REBUILD
                log.error(
                    "The changed folder makes no agent; the last good one goes on: %s",
                    error,
                    extra={"action": "rebuild_failed"},
                )
        assert self._runner is not None, "a refresh either builds a graph or raises"
        return self._runner

    async def _rebuild(self, snapshot: Snapshot) -> None:
        settings = snapshot.settings
        models = await self._models_of(settings, _names(snapshot))
        parts = self._parts(settings, models)
        self._snapshot = self._snapshot or snapshot  # the first graph asks for it while it is built
        built: Built = await asyncio.to_thread(build, parts, snapshot)
        means = Means(
            saver=self._saver,
            recall=self._recall,
            clock=self._clock,
            workspace=self._workspace.cwd,
            artefacts=self._host,
            steps=settings.limits.steps,
            hide=self._secrets.hide,
        )
        self._runner = Runner(built, means)

    def _parts(self, settings: Settings, models: Mapping[str, BaseChatModel]) -> Parts:
        return Parts(
            model=models[""],
            models=models,
            snapshot=self._live,
            pins=lambda: self._pins,
            workspace=self._workspace,
            overflow=self._overflow,
            saver=self._saver,
            journal=self._store,
            host=self._host,
            artefacts=self._host,
            zone=settings.timezone,
            steps=settings.limits.steps,
            context=settings.limits.context,
        )

    def _file_rules(self) -> Sequence[FileRule]:
        return self._live().settings.files

    def _live(self) -> Snapshot:
        assert self._snapshot is not None, "no graph runs before the first refresh"
        return self._snapshot

    async def _recall(self, principal: str) -> tuple[str, ...]:
        return tuple(row.text for row in await self._store.memory(principal))

    async def _models_of(
        self, settings: Settings, names: Iterable[str]
    ) -> dict[str, BaseChatModel]:
        """By name, the settings' own under none; built once for one set of options."""
        options = repr((settings.fallbacks, settings.model_options))
        keys = {name: (name or settings.model, options) for name in names}
        built: dict[tuple[str, str], BaseChatModel] = {}
        for name, key in keys.items():
            found = built.get(key) or self._models.get(key)
            built[key] = found or await self._make_model(
                settings, self._secrets.resolve, name=name, folder=self._folder.path
            )
        self._models = built  # what the folder names no more is let go
        return {name: built[key] for name, key in keys.items()}


async def build_agent(
    settings: Settings,
    folder: Folder,
    store: Store,
    clock: Clock,
    host: Host | None,
    *,
    secrets: Secrets | None = None,
    make_model: ModelMaker = build_model,
) -> Agent:
    """Build the agent of a folder. Raises ModelUnusable when its model cannot be had."""
    set_tracing(settings.tracing)
    secrets = secrets or open_secrets(folder.path, settings.secrets)
    agent = Agent(folder, store, clock, host, secrets, make_model)
    await agent.refresh()
    return agent


def _names(snapshot: Snapshot) -> set[str]:
    return {"", *(spec.model for spec in snapshot.subagents)}


def _shape_of(snapshot: Snapshot) -> object:
    """What a graph is built from. Prose that is read live, such as AGENTS.md, is not in it."""
    settings = snapshot.settings
    return (
        [(tool.name, tool.function, tool.traits) for tool in snapshot.tools],
        snapshot.subagents,
        settings.model_dump(include={"model", "fallbacks", "model_options", "limits", "timezone"}),
    )
