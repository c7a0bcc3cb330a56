"""One plug file -> what it holds, by kind."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from wakeful.events import Fault
from wakeful.plugs.find import Entry
from wakeful.plugs.instances import contract_faults, read_instance
from wakeful.plugs.modules import import_fault, load_module
from wakeful.plugs.schedules import parse
from wakeful.plugs.shelf import Loaded
from wakeful.plugs.skills import read_skill
from wakeful.plugs.subagents import read_subagent
from wakeful.plugs.tools import tools_of


def read_entry(entry: Entry, timezone: str) -> Loaded[Any]:
    """A list of ToolPlug, a module, a Written, a Rule, ... by kind; None when it is faulty."""
    if entry.suffix == ".toml":
        return read_instance(entry.name, entry.path, entry.file)
    if entry.kind == "skills":
        return read_skill(entry.path, ours=entry.ours)
    if entry.kind == "schedules":
        return _schedule(entry, timezone)
    if entry.kind == "subagents":
        return _subagent(entry)
    return _python(entry)


def read_text(path: Path) -> Loaded[str]:
    """A text file that need not be there."""
    try:
        return path.read_text("utf-8-sig"), []
    except FileNotFoundError:
        return "", []
    except UnicodeDecodeError:
        return None, [Fault(file=path.name, message="it is not UTF-8 text")]


def _schedule(entry: Entry, timezone: str) -> Loaded[Any]:
    try:
        found = parse(entry.path, default_zone=timezone)
    except UnicodeDecodeError:
        return None, [Fault(file=entry.file, message="it is not UTF-8 text")]
    return (None, found) if isinstance(found, list) else (found, [])


def _subagent(entry: Entry) -> Loaded[Any]:
    try:
        return read_subagent(entry.name, entry.path.read_text("utf-8"), entry.file)
    except UnicodeDecodeError:
        return None, [Fault(file=entry.file, message="it is not UTF-8 text")]


def _python(entry: Entry) -> Loaded[Any]:
    try:
        return _plugs_of(_module(entry), entry)
    except (Exception, SystemExit) as error:  # whatever the file raises is a fault of that file
        return None, [import_fault(error, entry.path, entry.file)]


def _plugs_of(module: ModuleType, entry: Entry) -> Loaded[Any]:
    if entry.kind == "tools":
        tools, faults = tools_of(module, entry.file, ours=entry.ours)
        return (None if _serious(faults) else tools), faults
    faults = list(contract_faults(module, entry.file))
    return (None if faults else module), faults


def _module(entry: Entry) -> ModuleType:
    if entry.ours:
        return import_module(f"wakeful.builtin.{entry.kind}.{entry.name}")
    return load_module(entry.kind, entry.name, entry.path)


def _serious(faults: Iterable[Fault]) -> bool:
    return any(not fault.warning for fault in faults)
