"""From a function in tools/ to a tool of the model; its `Call` parameter is ours to fill in."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_type_hints

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, create_model

from wakeful.agent.current import call_
from wakeful.tool import Call

NO_REPLY = "no_reply"  # the tool that ends a run in silence
ARGUMENT = re.compile(r"^\s{0,8}\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")
SECTION = re.compile(r"^(Returns?|Raises|Yields|Examples?|Notes?):\s*$")


def as_tool(name: str, function: Callable[..., Any]) -> BaseTool:
    """A structured tool that runs the function off the loop unless it is a coroutine function."""
    description, arguments = read_docstring(inspect.getdoc(function) or "")
    return StructuredTool.from_function(
        coroutine=_caller(function),
        name=name,
        description=description or name,
        args_schema=schema_of(name, function, arguments),
        infer_schema=False,
        return_direct=name == NO_REPLY,
    )


def schema_of(
    name: str, function: Callable[..., Any], arguments: Mapping[str, str]
) -> type[BaseModel]:
    """What the model fills in: every parameter but those of type `Call`."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name, str)
        if hint is Call:
            continue
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        said = arguments.get(parameter.name)  # one of the annotation's own stands without it
        fields[parameter.name] = (
            hint,
            Field(default, description=said) if said else Field(default),
        )
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def read_docstring(doc: str) -> tuple[str, dict[str, str]]:
    """The text before `Args:`, and what is said of each argument."""
    head, _, rest = doc.partition("\nArgs:\n")
    if doc.startswith("Args:\n"):
        head, rest = "", doc.removeprefix("Args:\n")
    arguments: dict[str, str] = {}
    name = ""
    for line in rest.splitlines():
        if SECTION.match(line):
            break
        if found := ARGUMENT.match(line):
            name = found[1]
            arguments[name] = found[2].strip()
        elif name and line.strip():
            arguments[name] += " " + line.strip()
    return head.strip(), arguments


def _caller(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    hints = get_type_hints(function)
    hidden = [name for name in inspect.signature(function).parameters if hints.get(name) is Call]

    async def run(**arguments: Any) -> Any:
        for name in hidden:
            arguments[name] = call_.get()
        try:
            return await _called(function, arguments)
        except SystemExit as end:  # it would end the daemon
            raise RuntimeError(f"it called sys.exit({end.code!r})") from end

    return run


async def _called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    result = await asyncio.to_thread(_plain, function, arguments)
    return await result if inspect.isawaitable(result) else result


def _plain(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    try:
        return function(**arguments)
    except StopIteration as error:  # no future can hold one: its waiter would wait for ever
        raise RuntimeError("it raised StopIteration") from error
