"""Channels and connections: a module with `Settings` and `open`, and the TOML files that use it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ValidationError

from wakeful.config import (
    KeyPath,
    Unreadable,
    explain,
    line_of,
    nearest,
    read_toml,
    secret_in_text,
    unknown,
)
from wakeful.events import Fault
from wakeful.plugs.values import ChannelPlug
from wakeful.redact import redact
from wakeful.secrets import is_reference

USE = "use"


@dataclass(frozen=True, slots=True)
class Written:
    """A TOML file of channels/ or connections/, before its plug is known."""

    name: str
    file: str
    use: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[KeyPath, int] = field(default_factory=dict)


def read_instance(name: str, path: Path, file: str) -> tuple[Written | None, list[Fault]]:
    try:
        values, lines = read_toml(path, file)
    except Unreadable as error:
        return None, [error.fault]
    use = values.pop(USE, name)
    if not isinstance(use, str):
        message = f'write the name of a plug, such as {USE} = "webhook"'
        return None, [Fault(file=file, line=lines[(USE,)], key=USE, message=message)]
    faults = list(secret_in_text(file, values, lines))
    return Written(name, file, use, values, lines), faults


def contract_faults(module: ModuleType, file: str) -> Iterator[Fault]:
    """What a channel or connection module lacks."""
    settings = getattr(module, "Settings", None)
    if not (isinstance(settings, type) and issubclass(settings, BaseModel)):
        yield Fault(file=file, key="Settings", message="it needs a pydantic model of this name")
    opener = getattr(module, "open", None)
    if not callable(opener) or _arguments(opener) < 2:
        message = "it needs an async context manager open(settings, host)"
        yield Fault(file=file, key="open", message=message)


def instance(
    written: Written, modules: Mapping[str, ModuleType | None], kind: str, digest: str
) -> tuple[ChannelPlug | None, list[Fault]]:
    """A TOML file together with its plug, or every fault of its settings.

    A module that is None did not load; its own fault says why.
    """
    if written.use not in modules:
        message = unknown(kind, written.use, modules)
        line = written.lines.get((USE,))
        return None, [Fault(file=written.file, line=line, key=USE, message=message)]
    module = modules[written.use]
    if module is None:
        return None, []
    faults = settings_faults(module, written.settings, written.file, written.lines)
    plug = ChannelPlug(
        name=written.name,
        module=module,
        settings=written.settings,
        file=written.file,
        use=written.use,
        lines=written.lines,
        digest=digest,
    )
    return (None if any(not fault.warning for fault in faults) else plug), faults


def settings_faults(
    module: Any, values: Mapping[str, Any], file: str, lines: Mapping[KeyPath, int]
) -> list[Fault]:
    """What the plug's own Settings say; what a secret holds is looked at when it is opened."""
    model: type[BaseModel] = module.Settings
    extra = list(_unknown_keys(model, values, file, lines))
    try:
        model.model_validate(dict(values))
    except ValidationError as error:
        found = explain(error, model, file=file, lines=lines)
        return [*extra, *(fault for fault in found if not _of_reference(fault, values, extra))]
    except Exception as error:  # a validator of the plug's own that met what it did not expect
        message = redact(f"they cannot be checked: {type(error).__name__}: {error}")
        return [*extra, Fault(file=file, message=message)]
    return extra


def _unknown_keys(
    model: type[BaseModel], values: Mapping[str, Any], file: str, lines: Mapping[KeyPath, int]
) -> Iterator[Fault]:
    """Refused even where the plug's author forgot to: a mistyped key must not be nothing."""
    known = {info.alias or name for name, info in model.model_fields.items()}
    for key in values:
        if key not in known:
            near = nearest(key, {*known, USE})
            message = unknown("setting", key, [near] if near else known)
            yield Fault(file=file, line=line_of(lines, (key,)), key=key, message=message)


def _of_reference(fault: Fault, values: Mapping[str, Any], known: list[Fault]) -> bool:
    if any(fault.key == other.key for other in known):
        return True
    at: Any = values
    for part in fault.key.split(".") if fault.key else ():
        if isinstance(at, str):
            break
        at = at.get(part) if isinstance(at, Mapping) else None
    return isinstance(at, str) and is_reference(at) and not fault.security


def _arguments(function: Any) -> int:
    try:
        return len(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return 0
