"""Every tool exactly as the model sees it: asked of the graph itself, by a model that only listens.

Nothing is called, nothing is sent anywhere, and the folder is not written to.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from wakeful.agent.current import Run, run_
from wakeful.agent.graph import Parts, build
from wakeful.agent.lint import lint
from wakeful.agent.survival import lost
from wakeful.agent.tools import as_tool
from wakeful.agent.workspace import Workspace
from wakeful.events import Claim, Event, Fault
from wakeful.host import Clock
from wakeful.plugs import Snapshot, ToolPlug

OWN = "an agent's own"  # the file of a tool that every agent has from its middleware


@dataclass(frozen=True, slots=True)
class Contract:
    """One tool: what goes to the provider, word for word."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    file: str


class _Listener(BaseChatModel):
    """Takes what it is given and says nothing of it."""

    _heard: list[Contract] = PrivateAttr(default_factory=list)
    _plugs: dict[str, ToolPlug] = PrivateAttr(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "listener"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        self._heard = [self._contract(each) for each in tools]
        return self.bind()

    def _contract(self, tool: BaseTool | dict[str, Any]) -> Contract:
        wire = convert_to_openai_tool(tool)["function"]
        plug = self._plugs.get(wire["name"])
        return Contract(
            name=wire["name"],
            description=wire.get("description", ""),
            parameters=wire.get("parameters", {}),
            file=plug.file if plug else OWN,
        )

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("ok"))])


async def contracts(snapshot: Snapshot, clock: Clock) -> tuple[list[Contract], list[Fault]]:
    """Tools of the main agent in the order in which the model gets them, and what is wrong."""
    sound, faults = _exportable(snapshot)
    listener = _Listener()
    listener._plugs = {plug.name: plug for plug in sound.tools}
    token = run_.set(Run(claim=_claim(), clock=clock))
    try:
        with tempfile.TemporaryDirectory() as aside:
            built = build(_parts(listener, sound, Path(aside)), sound)
            await built.graph.ainvoke({"messages": [("user", "Which tools are there?")]})
    finally:
        run_.reset(token)
    heard = listener._heard
    for one in heard:
        if one.file != OWN:
            faults += lint(one.name, one.description, one.parameters, one.file)
            plug = listener._plugs[one.name]
            faults += lost(plug.name, plug.function, one.parameters, plug.file)
    return heard, faults


def _exportable(snapshot: Snapshot) -> tuple[Snapshot, list[Fault]]:
    """The folder without tools that no schema can be made of; one of them would hide the rest."""
    good: list[ToolPlug] = []
    faults: list[Fault] = []
    for plug in snapshot.tools:
        try:
            convert_to_openai_tool(as_tool(plug.name, plug.function))
            good.append(plug)
        except Exception as error:  # whatever an annotation of the user's raises
            reason = str(error).splitlines()[0]
            message = f"no model can be told of its arguments: {reason}"
            faults.append(Fault(file=plug.file, key=plug.name, message=message))
    return replace(snapshot, tools=tuple(good)), faults


def _parts(model: BaseChatModel, snapshot: Snapshot, aside: Path) -> Parts:
    nothing: Any = None
    return Parts(
        model=model,
        models={},
        snapshot=lambda: snapshot,
        pins=dict,
        workspace=Workspace(aside / "workspace"),
        overflow=aside / "overflow",
        saver=nothing,
        journal=nothing,
        host=None,
        artefacts=None,
        zone=snapshot.settings.timezone,
        steps=snapshot.settings.limits.steps,
        context=snapshot.settings.limits.context,
    )


def _claim() -> Claim:
    """Of an event that nobody sent."""
    event = Event(source="check", keys=(), principal="", thread_key="check", text="")
    return Claim(seq=0, event=event, graph_id="", fence=0, attempts=0, crashes=0, received_at=0)
