"""Who is asked before a tool runs, when, and for how long: the table `[approvals]`."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from wakeful.config.kinds import Address, Name, Principal, Span, Table
from wakeful.tool import Rule


class Gate(Table):
    """One tool, or one channel, in `[approvals]`; a word alone is its `approve`."""

    approve: Rule | None = None  # none: as the tool itself says
    approvers: tuple[Principal, ...] = ()
    route: tuple[Address, ...] = ()


class Approvals(Table):
    approvers: tuple[Principal, ...] = ()  # instead of hooks and schedules; none: the operator
    route: tuple[Address, ...] = ()  # where questions of hooks and schedules are shown
    remind: Span = "1d"
    escalate: Span = "3d"
    escalate_to: tuple[Address, ...] = ()
    expire: Span = "7d"
    tools: dict[Name, Gate] = Field(default_factory=dict)
    channels: dict[Name, Gate] = Field(default_factory=dict)

    @field_validator("tools", "channels", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {k: {"approve": v} if isinstance(v, str) else v for k, v in value.items()}
