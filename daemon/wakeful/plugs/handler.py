"""A schedule in Python: what its constants say, where they stand, and the function that runs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeful.events import Fault
from wakeful.plugs.modules import INIT, import_fault, load_module


class HandlerFaulty(Exception):
    """The file cannot be used as a schedule; the fault says why and where."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Handler:
    """The public constants of a schedule file, their lines, and its `run`."""

    values: Mapping[str, Any]
    lines: Mapping[str, int]
    run: Any


def read_handler(path: Path, file: str) -> Handler:
    """Import a schedule, which faults call `file`. Raises HandlerFaulty."""
    try:
        module = load_module("schedules", path.stem, path)
    except (Exception, SystemExit) as error:  # whatever it raises is a fault of that file
        raise HandlerFaulty(import_fault(error, path, file)) from error
    run = getattr(module, "run", None)
    if not inspect.iscoroutinefunction(run) or len(inspect.signature(run).parameters) != 1:
        line = run.__code__.co_firstlineno if inspect.isfunction(run) else None
        message = "a schedule in Python needs `async def run(host)`"
        raise HandlerFaulty(Fault(file=file, line=line, message=message))
    source = path / INIT if path.is_dir() else path
    lines = _constants(ast.parse(source.read_bytes()))
    values = {name: getattr(module, name) for name in lines if hasattr(module, name)}
    return Handler(values, lines, run)


def _constants(tree: ast.Module) -> dict[str, int]:
    """The names in capitals that a module sets at its top level, with their lines."""
    found: dict[str, int] = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper() and target.id[0] != "_":
                found[target.id] = node.lineno
    return found
