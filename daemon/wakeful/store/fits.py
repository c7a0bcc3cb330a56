"""Whether a decision goes with its question, told to whoever decides, not to the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wakeful.events import Decision, WaitRequest

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


def misfit(request: WaitRequest, decision: Decision) -> str:
    """What is wrong with the decision, and nothing when it fits."""
    if decision.verdict not in request.allowed:
        return f"this question takes {' or '.join(request.allowed)}, not {decision.verdict}"
    if decision.verdict == "edit" and decision.args is not None:
        return _of_arguments(request.schema, decision.args)
    if decision.verdict == "answer" and not decision.text.strip():
        return "an answer needs a text"
    return ""


def _of_arguments(schema: Mapping[str, Any], args: Mapping[str, Any]) -> str:
    known: Mapping[str, Any] = schema.get("properties", {})
    strange = sorted(args.keys() - known.keys()) if "properties" in schema else []
    if strange:
        return f"there is no argument {strange[0]!r}; there is: {', '.join(known) or 'none'}"
    missing = [name for name in schema.get("required", ()) if name not in args]
    if missing:
        return f"the argument {missing[0]!r} is missing; give all of them"
    for name, value in args.items():
        wanted = known.get(name, {}).get("type", "")
        if wanted in TYPES and not _is(value, wanted):
            return f"the argument {name!r} must be of the type {wanted}"
    return ""


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):  # which Python takes for a number
        return wanted == "boolean"
    return isinstance(value, TYPES[wanted])
