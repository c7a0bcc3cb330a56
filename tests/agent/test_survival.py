"""Constraints that the validator has and the model is not told of."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from annotated_types import Predicate
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from tests.conformance.plugs import everything
from wakeful.agent.survival import lost
from wakeful.agent.tools import as_tool


def even(value: int) -> int:
    if value % 2:
        raise ValueError("odd")
    return value


class Range(BaseModel):
    low: Annotated[int, Field(ge=0)]
    high: int

    @model_validator(mode="after")
    def in_order(self) -> Range:
        return self


class Tree(BaseModel):
    kids: list[Tree] = []


def tool(hint: Any, default: Any = ...) -> Callable[..., str]:
    def act(value: Any) -> str:
        """Do something with a value."""
        return ""

    act.__annotations__ = {"value": hint, "return": str}
    return act


def wire(function: Callable[..., Any]) -> dict[str, Any]:
    made: dict[str, Any] = convert_to_openai_tool(as_tool("act", function))["function"]
    return dict(made["parameters"])


def said(hint: Any, parameters: Any = None) -> list[str]:
    function = tool(hint)
    parameters = wire(function) if parameters is None else parameters
    found = lost("act", function, parameters, "tools/x.py")
    assert all(fault.warning and fault.key == "act" for fault in found)
    return [fault.message.partition('"value" ')[2].partition(";")[0] for fault in found]


@pytest.mark.parametrize(
    ("hint", "what"),
    [
        (Annotated[date, Field(gt=date(2027, 1, 1))], ["has gt=2027-01-01"]),
        (Annotated[Decimal, Field(max_digits=3, gt=0)], ["has max_digits=3"]),
        (Annotated[int, AfterValidator(even)], ["is checked by even()"]),
        (
            Annotated[list[Annotated[int, BeforeValidator(even)]], Field(min_length=1)],
            ["is checked by even()"],
        ),
        (Annotated[int, Predicate(lambda value: value > 3)], ["is checked by a Predicate"]),
        (Range, ["is checked by in_order()"]),
        (Range | None, ["is checked by in_order()"]),
        (Tree, ["may hold others of its kind, at any depth"]),
    ],
)
def test_what_does_not_survive_is_named(hint: Any, what: list[str]) -> None:
    assert said(hint) == what


@pytest.mark.parametrize(
    "hint",
    [
        str,
        Path,
        date,
        Decimal,
        Literal["a", "b"],
        dict[str, Annotated[int, Field(le=3)]],
        Annotated[str, Field(pattern="^a", min_length=2, max_length=4)],
        Optional[Annotated[list[int], Field(min_length=1, max_length=2)]],  # noqa: UP045
        Annotated[float, Field(gt=0, lt=1.5, multiple_of=0.5)],
    ],
)
def test_what_survives_is_not_in_the_way(hint: Any) -> None:
    assert said(hint) == []


BOUNDS: dict[str, str] = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


@given(st.dictionaries(st.sampled_from(sorted(BOUNDS)), st.integers(1, 99), min_size=1), st.data())
def test_exactly_what_was_taken_from_the_wire_is_named(
    bounds: dict[str, int], data: st.DataObject
) -> None:
    hint: Any = Annotated[int, Field(**bounds)]  # type: ignore[call-overload]
    parameters = wire(tool(hint))
    assert said(hint, parameters) == []
    gone = data.draw(st.sets(st.sampled_from(sorted(bounds))))
    for key in gone:
        del parameters["properties"]["value"][BOUNDS[key]]
    assert sorted(said(hint, parameters)) == sorted(f"has {key}={bounds[key]}" for key in gone)


@given(st.integers(1, 99), st.integers(1, 99))
def test_a_bound_that_changed_on_the_way_has_not_survived(bound: int, told: int) -> None:
    hint = Annotated[int, Field(ge=bound)]
    parameters = wire(tool(hint))
    parameters["properties"]["value"]["minimum"] = told
    assert (said(hint, parameters) == []) is (bound == told)


def test_our_own_tools_keep_nothing_to_themselves() -> None:
    for plug in everything().tools:
        parameters = wire(plug.function)
        assert lost(plug.name, plug.function, parameters, plug.file) == []
