"""What each file holds -> one snapshot of the folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from wakeful.config import Settings
from wakeful.events import Fault
from wakeful.plugs.crosscheck import crosscheck
from wakeful.plugs.find import Entry, Kind
from wakeful.plugs.instances import Written, instance
from wakeful.plugs.ours import available
from wakeful.plugs.shelf import KEPT, Kept
from wakeful.plugs.values import ChannelPlug, Snapshot, ToolPlug


@dataclass(frozen=True, slots=True)
class Read:
    """All files of a folder as they were read, and the snapshot before."""

    settings: Settings
    agents: Kept
    entries: list[tuple[Entry, Kept]]
    faults: list[Fault]
    before: Snapshot | None


def assemble(read: Read) -> Snapshot:
    faults = [*read.faults, *(fault for _, kept in read.entries for fault in kept.faults)]
    tools = _tools(read, faults)
    snapshot = Snapshot(
        digest=_digest(read),
        settings=read.settings,
        agents_md=read.agents.value or "",
        tools=tuple(tools.values()),
        channels=_instances(read, "channels", faults),
        connections=_instances(read, "connections", faults),
        schedules=tuple(_values(read, "schedules")),
        skills=tuple(_values(read, "skills")),
        subagents=tuple(_values(read, "subagents")),
    )
    every = dict.fromkeys((*faults, *crosscheck(snapshot)))  # the same one once
    return replace(snapshot, faults=tuple(sorted(every, key=_place)))


def _place(fault: Fault) -> tuple[str, int, str]:
    return fault.file, fault.line or 0, fault.key


def _values(read: Read, kind: Kind) -> Iterator[Any]:
    """The values of one kind, each with the digest of its file where it has a place for one."""
    for entry, kept in sorted(read.entries, key=lambda each: each[0].name):
        if entry.kind == kind and kept.value is not None:
            yield replace(kept.value, digest=kept.digest) if kind == "subagents" else kept.value


def _tools(read: Read, faults: list[Fault]) -> dict[str, ToolPlug]:
    """By name; a tool of the agent's own stands before ours, two of its own are a fault."""
    tools: dict[str, ToolPlug] = {}
    for plugs in _values(read, "tools"):
        for plug in sorted(plugs, key=lambda each: each.name):
            other = tools.get(plug.name)
            if other is None or (other.ours and not plug.ours):
                tools[plug.name] = plug
            elif not plug.ours:
                message = f"{other.file} has a tool of this name too; rename one of them"
                faults.append(Fault(file=plug.file, key=plug.name, message=message))
    return dict(sorted(tools.items()))


def _instances(read: Read, kind: Kind, faults: list[Fault]) -> Mapping[str, ChannelPlug]:
    """Every channel that is to be opened: TOML files, modules of the agent's own, and `[use]`."""
    modules = _modules(read, kind)
    made: dict[str, ChannelPlug] = {}
    for written, digest in _written(read, kind, modules):
        plug, found = instance(written, modules, kind.removesuffix("s"), digest)
        old = getattr(read.before, kind, {}).get(written.name)
        if plug is None and old is not None:
            found = [replace(fault, message=fault.message + KEPT) for fault in found]
            plug = old
        faults.extend(found)
        if plug is not None:
            made[plug.name] = plug
    return dict(sorted(made.items()))


def _modules(read: Read, kind: Kind) -> dict[str, ModuleType | None]:
    """By name, ours that nothing uses included as None: their names are right words."""
    modules: dict[str, ModuleType | None] = dict.fromkeys(available()[kind])
    for entry, kept in read.entries:
        if entry.kind == kind and entry.suffix != ".toml":
            modules[entry.name] = kept.value
    return modules


def _written(
    read: Read, kind: Kind, modules: Mapping[str, ModuleType | None]
) -> Iterator[tuple[Written, str]]:
    tomls = [
        (entry, kept)
        for entry, kept in read.entries
        if entry.kind == kind and entry.suffix == ".toml"
    ]
    yield from ((kept.value, kept.digest) for _, kept in tomls if kept.value is not None)
    taken = {entry.name for entry, _ in tomls}
    used = {kept.value.use for _, kept in tomls if kept.value is not None}
    for entry, kept in read.entries:
        if entry.kind != kind or entry.suffix == ".toml" or entry.name in taken:
            continue
        if entry.name in getattr(read.settings.use, kind, ()) or (
            not entry.ours and entry.name not in used
        ):
            yield Written(entry.name, entry.file, use=entry.name), kept.digest


def _digest(read: Read) -> str:
    parts = [read.settings.model_dump_json(), read.agents.digest]
    parts += sorted(
        f"{entry.ours} {entry.kind} {entry.path.name} {kept.digest}" for entry, kept in read.entries
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
