"""One step of a script, from its table in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import UnionType
from typing import Any, get_args

from wakeful.config.words import unknown
from wakeful.rehearsal.script import PLACE, RESULT, Call, Fail, Failing, Step

Report = Callable[[str, str], None]  # key, message

ACTIONS = ("say", "call", "calls", "task", "todos", "fail")
SHAPES: Mapping[str, tuple[type | UnionType, str]] = {
    **dict.fromkeys(("say", "call", "task", "ask", "fail"), (str, "a text")),
    **dict.fromkeys(("calls", "todos"), (list, "a list")),
    "args": (dict, "a table { ... }"),
    "as_date": (bool, "true or false"),
    "times": (int, "a whole number"),
    **dict.fromkeys(("after", "wait"), (int | float, "a number of seconds")),
}
STEP_KEYS = (*SHAPES, "if_result", "unless_result")
CALL_KEYS = ("call", "args")
MARKS = {"x": "completed", ">": "in_progress", " ": "pending"}
TODO = re.compile(r"\[([x> ])\] (.+)")


def make_step(
    raw: Mapping[str, Any],
    conditions: Mapping[str, re.Pattern[str] | None],
    names: set[str],
    report: Report,
) -> Step:
    """Build a step and report what is wrong with it, key by key."""
    good = dict(_well_shaped(raw, report))
    if not any(key in raw for key in ACTIONS):
        report("", f"a step needs one of {', '.join(ACTIONS)}")
    if "args" in raw and "call" not in raw:
        report("args", "args belong to a `call`")
    step = Step(
        say=good.get("say", ""),
        calls=tuple(_calls(good, report)),
        fail=_fail(good, report),
        wait=float(good.get("wait", 0)),
        if_result=conditions["if_result"],
        unless_result=conditions["unless_result"],
    )
    for name in _places([step.say, [dict(call.args) for call in step.calls]]):
        if name not in names and not RESULT.fullmatch(name):
            report("", unknown("placeholder", name, names))
    return step


def groups(pattern: re.Pattern[str] | None) -> set[str]:
    """The placeholders that a pattern fills: its named groups, and the numbers of all."""
    if pattern is None:
        return set()
    return set(pattern.groupindex) | {str(n) for n in range(1, pattern.groups + 1)}


def _well_shaped(raw: Mapping[str, Any], report: Report) -> Iterator[tuple[str, Any]]:
    for key, value in raw.items():
        shape, wanted = SHAPES.get(key, (object, ""))
        if isinstance(value, shape) and (shape is bool or not isinstance(value, bool)):
            yield key, value
        else:
            report(key, f"write {wanted}")


def _calls(raw: Mapping[str, Any], report: Report) -> Iterator[Call]:
    if "call" in raw:
        yield Call(raw["call"], raw.get("args", {}))
    for inner in raw.get("calls", []):
        if not isinstance(inner, dict) or not isinstance(inner.get("call"), str):
            report("calls", 'write { call = "tool", args = { ... } }')
            continue
        for key in inner.keys() - set(CALL_KEYS):
            report("calls", unknown("key", key, CALL_KEYS))
        yield Call(inner["call"], inner.get("args", {}))
    if "task" in raw:
        ask = raw.get("ask", "{text}")
        yield Call("task", {"subagent_type": raw["task"], "description": ask})
    if "todos" in raw:
        yield Call("write_todos", {"todos": list(_todos(raw["todos"], report))})


def _todos(raw: list[Any], report: Report) -> Iterator[dict[str, str]]:
    for line in raw:
        found = TODO.fullmatch(str(line))
        if found is None:
            report("todos", 'write a todo as "[x] done", "[>] doing" or "[ ] open"')
            continue
        yield {"content": found[2], "status": MARKS[found[1]]}


def _fail(raw: Mapping[str, Any], report: Report) -> Fail | None:
    how = raw.get("fail")
    if how is None:
        return None
    if how not in get_args(Failing):
        report("fail", unknown("fault", how, get_args(Failing)))
        return None
    after = raw.get("after")
    return Fail(
        how, None if after is None else float(after), raw.get("as_date", False), raw.get("times")
    )


def _places(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from PLACE.findall(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _places(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _places(inner)
