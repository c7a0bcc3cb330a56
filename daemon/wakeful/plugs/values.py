"""What a folder holds, as frozen values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from wakeful.config import KeyPath, Settings
from wakeful.events import Fault
from wakeful.schedule import Rule
from wakeful.skill import Skill
from wakeful.tool import Traits


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlug:
    """One tool: a public function of a file in tools/."""

    name: str
    function: Callable[..., Any]
    traits: Traits
    module: ModuleType
    file: str
    ours: bool = False  # comes with wakeful


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPlug:
    """One channel instance. `settings` are as written: names of secrets, not secrets."""

    name: str
    module: Any  # a ChannelModule
    settings: Mapping[str, Any]
    file: str
    use: str  # the plug that it is an instance of
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentSpec:
    """One subagent: its prompt, and which tools it may use (None: those of the main agent)."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    model: str = ""  # empty: the main agent's
    file: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All that an agent folder holds at one moment. The same digest means the same content."""

    digest: str
    settings: Settings
    agents_md: str = ""
    tools: tuple[ToolPlug, ...] = ()
    channels: Mapping[str, ChannelPlug] = field(default_factory=dict)
    connections: Mapping[str, ChannelPlug] = field(default_factory=dict)
    schedules: tuple[Rule, ...] = ()
    skills: tuple[Skill, ...] = ()
    subagents: tuple[SubAgentSpec, ...] = ()
    faults: tuple[Fault, ...] = ()
