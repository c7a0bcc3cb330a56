"""Which skills an agent may be shown: what can act waits until a person has seen it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wakeful.skill import Skill

PINNED = "skill"  # the kind of pin
Pins = Mapping[str, str]  # digest that a person has seen, by name


def quarantined(skill: Skill, pins: Pins) -> bool:
    """Whether it carries something that can act, in a version that nobody has accepted."""
    return not skill.ours and bool(skill.findings) and pins.get(skill.name) != skill.digest


def shown(skills: Iterable[Skill], pins: Pins) -> tuple[Skill, ...]:
    return tuple(skill for skill in skills if not quarantined(skill, pins))
