"""A file in subagents/: front matter, and the prompt."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from wakeful.config import FrontMatterError, explain, read_front_matter
from wakeful.events import Fault
from wakeful.plugs.values import SubAgentSpec


def _listed(value: Any) -> Any:
    """`tools: search, fetch` means the same as a list."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


class _Head(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    description: Annotated[str, Field(min_length=1, max_length=1024)]
    tools: Annotated[tuple[str, ...], BeforeValidator(_listed)] | None = None
    model: str = ""


def read_subagent(name: str, text: str, file: str) -> tuple[SubAgentSpec | None, list[Fault]]:
    """A subagent, or every fault of its file."""
    try:
        front = read_front_matter(text)
    except FrontMatterError as error:
        return None, [Fault(file=file, line=error.line, message=str(error))]
    try:
        head = _Head.model_validate(front.data)
    except ValidationError as error:
        return None, explain(error, _Head, file=file, lines=front.paths)
    if not front.body:
        message = "write its prompt below the settings: who it is and how it works"
        return None, [Fault(file=file, message=message)]
    spec = SubAgentSpec(
        name=name,
        description=head.description,
        prompt=front.body,
        tools=head.tools,
        model=head.model,
        file=file,
    )
    return spec, []
