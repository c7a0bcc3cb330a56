"""What a model is told of the skills: when to use each, and where the rest of it stands.

A skill costs one line until it is used; its SKILL.md is read like any other file when it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from wakeful.skill import SKILL_FILE, Skill

HEAD = "Skills. When one fits, read its file first and follow it:"


def index(skills: Sequence[Skill], root: str) -> str:
    """One line for each skill; `root` is where the agent's file tools find them. Empty for none."""
    lines = [f"- {skill.name}: {_one_line(skill)} (`{location(skill, root)}`)" for skill in skills]
    return "\n".join([HEAD, *lines]) if lines else ""


def location(skill: Skill, root: str) -> str:
    """Where the agent reads it."""
    return f"{root.rstrip('/')}/{skill.name}/{SKILL_FILE}"


def _one_line(skill: Skill) -> str:
    return " ".join(skill.description.split())
