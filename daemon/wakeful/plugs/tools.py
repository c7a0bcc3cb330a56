"""A file in tools/: every public function that it defines is a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, get_args, get_type_hints

from wakeful.config import unknown
from wakeful.events import Fault
from wakeful.plugs.values import ToolPlug
from wakeful.tool import MARK, Approve, Call, Effect, traits

# What every agent has from its own middleware.
_FILE_TOOLS = ("ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep")
TAKEN = frozenset({"write_todos", "task", "execute", *_FILE_TOOLS})
_PLAIN = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def tools_of(
    module: ModuleType, file: str, *, ours: bool = False
) -> tuple[list[ToolPlug], list[Fault]]:
    """The tools of a module that was loaded, and what is wrong with the others."""
    tools: list[ToolPlug] = []
    faults: list[Fault] = []
    for name, function in public_functions(module).items():
        wrong = list(_faults(name, function, file))
        faults.extend(wrong)
        if all(fault.warning for fault in wrong):
            tools.append(
                ToolPlug(
                    name=name,
                    function=function,
                    traits=traits(function),
                    module=module,
                    file=file,
                    ours=ours,
                )
            )
    if not tools and not faults:
        message = (
            "it has no public function, so it is no tool; begin its name with _ if that is meant"
        )
        faults.append(Fault(file=file, message=message, warning=True))
    return tools, faults


def public_functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Functions that the module, or a file of its own folder, defines."""
    listed = getattr(module, "__all__", None)
    return {
        name: function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and name == function.__name__
        and (listed is None or name in listed)
        and (_defined_in(module, function) or hasattr(function, MARK))
    }


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Name and type of what the model fills in. Raises NameError for a type that is not there."""
    hints = get_type_hints(function, include_extras=True)
    return {
        name: hints.get(name, inspect.Parameter.empty)
        for name in inspect.signature(function).parameters
        if hints.get(name) is not Call
    }


def _described(annotation: Any) -> bool:
    """Whether the annotation brings a description, as pydantic's Field does."""
    return any(getattr(each, "description", "") for each in getattr(annotation, "__metadata__", ()))


def _defined_in(module: ModuleType, function: Callable[..., Any]) -> bool:
    return (function.__module__ + ".").startswith(module.__name__ + ".")


def _faults(name: str, function: Callable[..., Any], file: str) -> Iterator[Fault]:
    line = inspect.unwrap(function).__code__.co_firstlineno
    for message, warning in _complaints(name, function):
        yield Fault(file=file, line=line, key=name, message=message, warning=warning)


def _complaints(name: str, function: Callable[..., Any]) -> Iterator[tuple[str, bool]]:
    if name in TAKEN:
        yield "every agent has a tool of this name already; rename it", False
    told = traits(function)
    for key, word, words in (
        ("effect", told.effect, get_args(Effect)),
        ("approve", told.approve, get_args(Approve)),
    ):
        if word not in words:
            yield f"{key}: {unknown('value', str(word), words)}", False
    doc = inspect.getdoc(function) or ""
    if not doc.strip():
        yield "it needs a docstring: that is all the model knows of it", False
    try:
        typed = parameters(function)
    except Exception as error:
        yield f"its types cannot be read: {error}", False
        return
    egress = traits(function).egress
    if egress and typed.get(egress) is not str:
        yield f'egress = "{egress}" must name an argument of type str', False
    kinds = inspect.signature(function).parameters
    for argument, annotation in typed.items():
        if kinds[argument].kind not in _PLAIN:
            yield f'"{argument}" must be an ordinary argument, without * or /', False
        elif annotation is inspect.Parameter.empty:
            yield f'"{argument}" needs a type', False
        elif doc and f"{argument}:" not in doc and not _described(annotation):
            yield f'describe "{argument}" in the docstring, under Args:', True
