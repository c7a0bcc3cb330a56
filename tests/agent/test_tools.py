"""From a function to what the model sees of it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import ValidationError

from wakeful.agent.current import call_
from wakeful.agent.tools import as_tool, read_docstring, schema_of
from wakeful.tool import Call


async def order(call: Call, number: str, kind: Literal["a", "b"] = "a", *, many: int = 1) -> str:
    """Order something.

    Only for customers.

    Args:
        number: which one,
            such as A-1.
        kind: what kind.

    Returns:
        what was ordered.
    """
    return f"{number} {kind} {many} {call.principal}"


def slow(number: int) -> int:
    """Count."""
    return number + 1


def test_the_call_is_hidden_and_the_arguments_are_described() -> None:
    schema = schema_of("order", order, read_docstring(order.__doc__ or "")[1])
    shown = schema.model_json_schema()
    assert list(shown["properties"]) == ["number", "kind", "many"]
    assert shown["required"] == ["number"]
    assert shown["properties"]["kind"]["enum"] == ["a", "b"]
    with pytest.raises(ValidationError):
        schema.model_validate({"number": "1", "call": "mine"})


def test_a_docstring_is_read() -> None:
    import inspect

    text, arguments = read_docstring(inspect.getdoc(order) or "")
    assert text == "Order something.\n\nOnly for customers."
    assert arguments == {"number": "which one, such as A-1.", "kind": "what kind."}
    assert read_docstring("Just this.") == ("Just this.", {})


async def test_the_daemon_fills_the_call_in() -> None:
    call = Call(
        idempotency_key="k",
        thread_key="t",
        event_seq=1,
        principal="slack:T1:U7",
        address="",
        untrusted=False,
        host=None,  # type: ignore[arg-type]
    )
    token = call_.set(call)
    try:
        assert await as_tool("order", order).ainvoke({"number": "7"}) == "7 a 1 slack:T1:U7"
    finally:
        call_.reset(token)


async def test_an_ordinary_function_runs_off_the_loop() -> None:
    assert await as_tool("slow", slow).ainvoke({"number": 1}) == 2
    assert as_tool("no_reply", slow).return_direct
    assert not as_tool("slow", slow).return_direct


def nothing_left(number: int) -> int:
    """Take the next."""
    return next(iter([]))


def leave(number: int) -> int:
    """End the process, as a command-line tool would."""
    sys.exit(number)


async def leave_later(number: int) -> int:
    """The same, on the loop."""
    sys.exit(number)


@pytest.mark.parametrize(
    ("function", "said"),
    [(nothing_left, "StopIteration"), (leave, r"sys\.exit"), (leave_later, r"sys\.exit")],
)
async def test_whatever_a_tool_raises_is_an_error_of_its_own(
    function: Callable[..., Any], said: str
) -> None:
    with pytest.raises(RuntimeError, match=said):
        await asyncio.wait_for(as_tool("tool", function).ainvoke({"number": 1}), 5)
