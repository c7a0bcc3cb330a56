"""What settings are made of: addresses, principals, spans of time."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from wakeful.schedule.times import parse_every


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _address(value: str) -> str:
    channel, colon, where = value.partition(":")
    if not (channel and colon and where):
        raise ValueError(f'"{value}" is no address; write channel and place, such as "slack:#ops"')
    return value


def _principal(value: str) -> str:
    channel, colon, who = value.partition(":")
    if not (channel and colon and who):
        raise ValueError(
            f'"{value}" names nobody; write channel and person, such as "console:operator"'
        )
    return value


def _span(value: str) -> str:
    if value != NEVER:
        parse_every(value)
    return value


NEVER = "never"

Address = Annotated[str, AfterValidator(_address)]
Principal = Annotated[str, AfterValidator(_principal)]
Name = Annotated[str, Field(min_length=1)]
Span = Annotated[str, AfterValidator(_span)]  # such as 36h or 7d, or never


def milliseconds(span: str) -> int | None:
    """How long a span is; None: for ever."""
    return None if span == NEVER else int(parse_every(span) * 1000)
