"""What a model sees of the skills: an index always, and a body when it asks for one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from wakeful.skill import Skill

SKILL_FILE = "SKILL.md"
MOST_FILES = 50  # of one skill that are listed


def index(skills: Iterable[Skill]) -> str:
    """One line for each skill: when to use it. Empty when there is none."""
    return "\n".join(f"- {skill.name}: {' '.join(skill.description.split())}" for skill in skills)


def body(skill: Skill) -> str:
    """How to do it, with the names of the files that stand beside it."""
    files = resources(skill)
    if not files:
        return skill.body
    listed = "\n".join(f"- {name}" for name in files[:MOST_FILES])
    more = len(files) - MOST_FILES
    rest = f"\n- and {more} more" if more > 0 else ""
    return f"{skill.body}\n\nFiles of this skill:\n{listed}{rest}"


def resources(skill: Skill) -> list[str]:
    """Names of the skill's other files, below its folder."""
    found: list[str] = []
    for where, folders, names in os.walk(skill.folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        files = (Path(where, name) for name in sorted(names) if not name.startswith("."))
        found += [file.relative_to(skill.folder).as_posix() for file in files]
    return [name for name in found if name != SKILL_FILE]
