"""Everything that is wrong in an agent folder, at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wakeful.config import (
    FILE,
    KeyPath,
    Settings,
    Unreadable,
    line_of,
    nearest,
    read,
    read_toml,
    unknown,
)
from wakeful.config.models import name_fault, options_for, provider_fault
from wakeful.events import Fault
from wakeful.plugs.find import KINDS
from wakeful.plugs.folder import AGENTS, Folder
from wakeful.plugs.instances import settings_faults
from wakeful.plugs.values import ChannelPlug, Snapshot
from wakeful.secrets import Secrets, open_secrets, references


def check(folder: Path, overrides: Mapping[str, Any] | None = None) -> list[Fault]:
    """Every fault of settings, plugs and secrets. Blocks: call it off the loop."""
    folder = folder.resolve()
    settings, found = read(folder, overrides)
    usable = settings or Settings(model="rehearsal")  # so that the plugs are looked at anyway
    snapshot = Folder(folder, usable, overrides=overrides).scan()
    found += snapshot.faults
    found += secret_faults(folder, snapshot, open_secrets(folder, usable.secrets))
    found += _mistyped_names(folder)
    if settings is not None:
        found += _route_faults(folder, snapshot)
        found += _model_faults(folder, snapshot)
    return _in_order(found)


def secret_faults(folder: Path, snapshot: Snapshot, secrets: Secrets) -> Iterator[Fault]:
    """Names of secrets and variables that stand for nothing now."""
    values, lines = _agent_toml(folder)
    yield from _missing(FILE, values, lines, secrets)
    plugs: Iterable[ChannelPlug] = (
        *snapshot.channels.values(),
        *snapshot.connections.values(),
    )
    for plug in plugs:
        missing = list(_missing(plug.file, plug.settings, plug.lines, secrets))
        yield from missing or _resolved_faults(plug, secrets)


def _resolved_faults(plug: ChannelPlug, secrets: Secrets) -> list[Fault]:
    """What the plug says of the secrets themselves, such as one of the wrong form."""
    if not any(references(plug.settings)):
        return []
    values = asyncio.run(secrets.resolve_tree(plug.settings))
    return settings_faults(plug.module, values, plug.file, plug.lines)


def _missing(
    file: str, values: Any, lines: Mapping[KeyPath, int], secrets: Secrets
) -> Iterator[Fault]:
    for path, text in references(values):
        why = secrets.missing(text)
        if why:
            key = ".".join(str(part) for part in path)
            yield Fault(file=file, line=line_of(lines, path), key=key, message=why)


def _route_faults(folder: Path, snapshot: Snapshot) -> Iterator[Fault]:
    _, lines = _agent_toml(folder)
    route = snapshot.settings.alerts.route
    for index, address in enumerate(route):
        channel = address.partition(":")[0]
        if channel not in snapshot.channels:
            line = line_of(lines, ("alerts", "route", index))
            message = unknown("channel", channel, snapshot.channels)
            yield Fault(file=FILE, line=line, key="alerts.route", message=message)
    if not route:
        message = (
            "failures are shown on the page, in the log and by `wakeful status` only; name"
            ' addresses, such as route = ["slack:#ops"], to be told'
        )
        yield Fault(file=FILE, key="alerts.route", message=message, warning=True)


def _model_faults(folder: Path, snapshot: Snapshot) -> Iterator[Fault]:
    """Models whose name or key the start would refuse; no provider's library is loaded for it."""
    settings = snapshot.settings
    lines = _agent_toml(folder)[1]
    named = [(FILE, line_of(lines, ("model",)), "model", settings.model)]
    named += [
        (FILE, line_of(lines, ("fallbacks",)), "fallbacks", name) for name in settings.fallbacks
    ]
    known = {name for _, _, _, name in named}
    named += [(spec.file, None, "model", spec.model) for spec in snapshot.subagents if spec.model]
    for file, line, key, name in named:
        options = options_for(name, settings.model, known | {name}, settings.model_options)
        if wrong := name_fault(name, options, os.environ):
            yield Fault(file=file, line=line, key=key, message=wrong)
        elif doubtful := provider_fault(name):
            yield Fault(file=file, line=line, key=key, message=doubtful, warning=True)


def _mistyped_names(folder: Path) -> Iterator[Fault]:
    """Folders and files that look like one of ours and are not: they would be silently nothing."""
    known = {*KINDS, FILE, AGENTS}
    there = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    for name in there:
        near = nearest(name, known - set(there)) if name not in known else None
        if near and not name.startswith("."):
            message = f'it is not read; did you mean "{near}"?'
            yield Fault(file=name, message=message, warning=True)


def _agent_toml(folder: Path) -> tuple[Mapping[str, Any], Mapping[KeyPath, int]]:
    try:
        return read_toml(folder / FILE)
    except Unreadable:
        return {}, {}  # `read` has said so


def _in_order(found: Iterable[Fault]) -> list[Fault]:
    """By file and line, those that matter first; the same fault once."""
    once = dict.fromkeys(found)
    return sorted(once, key=lambda each: (each.warning, each.file, each.line or 0, each.key))
