"""The contract of a skill: a folder in `skills/` with a SKILL.md in the open Agent Skills format.

    ---
    name: expenses
    description: What it does and when to use it; this line alone is always before the model.
    ---
    How to do it, read by the model when it needs it.

Other files beside it may be read too; the body says which and when.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SKILL_FILE = "SKILL.md"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in a skill that can act, and that a person must have seen first."""

    file: str  # below the skill's folder
    why: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}" if self.line else f"{self.file}: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill, parsed."""

    name: str
    description: str
    body: str
    folder: Path  # where its other files are
    file: str  # as faults call it
    license: str = ""
    compatibility: str = ""
    allowed_tools: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""  # of every file in its folder
    findings: tuple[Finding, ...] = ()
    ours: bool = False  # comes with wakeful
