from __future__ import annotations

from pathlib import Path

from wakeful.skill import Skill
from wakeful.skills import HEAD, index


def skill(name: str, description: str) -> Skill:
    return Skill(name=name, description=description, body="Do.", folder=Path(name), file="SKILL.md")


def test_no_skills_are_no_words() -> None:
    assert index([], "/.library/") == ""


def test_one_line_for_each_with_its_place() -> None:
    skills = [skill("expenses", "Does them."), skill("triage", "Two\n  lines.")]
    assert index(skills, "/.library/").splitlines() == [
        HEAD,
        "- expenses: Does them. (`/.library/expenses/SKILL.md`)",
        "- triage: Two lines. (`/.library/triage/SKILL.md`)",
    ]
