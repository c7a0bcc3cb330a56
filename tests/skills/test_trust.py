from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wakeful.skill import Finding, Skill
from wakeful.skills.trust import quarantined, shown

SKILL = Skill(
    name="install",
    description="Installs.",
    body="Do.",
    folder=Path("install"),
    file="SKILL.md",
    digest="new",
    findings=(Finding("a.sh", "it is a script"),),
)


def test_X18_what_can_act_waits_for_its_own_version_to_be_seen() -> None:
    assert quarantined(SKILL, {})
    assert quarantined(SKILL, {"install": "old", "other": "new"})
    assert not quarantined(SKILL, {"install": "new"})


def test_what_cannot_act_and_what_is_ours_is_trusted() -> None:
    prose, ours = replace(SKILL, findings=()), replace(SKILL, ours=True)
    assert shown([SKILL, prose, ours], {}) == (prose, ours)
