"""A folder in skills/ in the open Agent Skills format, checked as its specification says."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from wakeful.config import FrontMatterError, explain, read_front_matter
from wakeful.errors import Refused
from wakeful.events import Fault
from wakeful.plugs.carried import carried
from wakeful.plugs.suspects import findings
from wakeful.skill import SKILL_FILE, Skill

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME = 64  # characters, as the specification says
LONGEST_DESCRIPTION = 1024


def _name(value: str) -> str:
    if not NAME.fullmatch(value) or len(value) > LONGEST_NAME:
        raise ValueError(
            f"a skill's name has lowercase letters, digits and single hyphens,"
            f" {LONGEST_NAME} characters at most"
        )
    return value


def _split(value: Any) -> Any:
    return value.split() if isinstance(value, str) else value


def _texts(value: Any) -> Any:
    """Versions such as 1.0 are written without quotes and mean text."""
    if isinstance(value, dict):
        return {str(key): str(inner) for key, inner in value.items()}
    return value


class _Head(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: Annotated[str, AfterValidator(_name)]
    description: Annotated[str, Field(min_length=1, max_length=LONGEST_DESCRIPTION)]
    license: str = ""
    compatibility: Annotated[str, Field(max_length=500)] = ""
    metadata: Annotated[dict[str, str], BeforeValidator(_texts)] = {}
    allowed_tools: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(
        (), alias="allowed-tools"
    )


def read_skill(folder: Path, *, ours: bool = False) -> tuple[Skill | None, list[Fault]]:
    """The skill of a folder, or every fault of its SKILL.md."""
    where = f"skills/{folder.name}"
    try:
        held = carried(folder)
    except Refused as error:
        return None, [Fault(file=where, message=str(error))]
    if SKILL_FILE not in held.files:
        return None, [Fault(file=where, message=f"it has no {SKILL_FILE}")]
    skill, faults = parse_skill(held.files[SKILL_FILE], folder)
    if skill is not None:
        skill = replace(skill, digest=held.digest, findings=findings(held), ours=ours)
    return skill, faults


def parse_skill(data: bytes, folder: Path) -> tuple[Skill | None, list[Fault]]:
    """What a SKILL.md says, or every fault of it."""
    file = f"skills/{folder.name}/{SKILL_FILE}"
    try:
        front = read_front_matter(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None, [Fault(file=file, message="it is not UTF-8 text")]
    except FrontMatterError as error:
        return None, [Fault(file=file, line=error.line, message=str(error))]
    try:
        head = _Head.model_validate(front.data)
    except ValidationError as error:
        return None, explain(error, _Head, file=file, lines=front.paths)
    if head.name != folder.name:
        message = f'the name must be that of its folder: write "{folder.name}"'
        return None, [Fault(file=file, line=front.lines["name"], key="name", message=message)]
    if not front.body:
        return None, [Fault(file=file, message="write what to do below the settings")]
    return _skill(head, front.body, folder, file), []


def _skill(head: _Head, body: str, folder: Path, file: str) -> Skill:
    return Skill(
        name=head.name,
        description=head.description,
        body=body,
        folder=folder,
        file=file,
        license=head.license,
        compatibility=head.compatibility,
        allowed_tools=head.allowed_tools,
        metadata=head.metadata,
    )
