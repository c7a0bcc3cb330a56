"""What every skill of ours keeps to: the open Agent Skills format, and being of use."""

from __future__ import annotations

import re

import pytest

from tests.conformance.plugs import everything, ours
from wakeful.plugs.skills import LONGEST_DESCRIPTION, NAME
from wakeful.plugs.tools import TAKEN
from wakeful.skill import Skill

SKILLS = [pytest.param(skill, id=skill.name) for skill in everything().skills]
LONGEST = 150  # lines of a body; more goes into files beside it


def test_all_load() -> None:
    assert [skill.name for skill in everything().skills] == [entry.name for entry in ours("skills")]


@pytest.mark.parametrize("skill", SKILLS)
def test_its_head_is_of_the_format(skill: Skill) -> None:
    assert skill.name == skill.folder.name
    assert NAME.fullmatch(skill.name) and len(skill.name) <= 64
    assert 0 < len(skill.description) <= LONGEST_DESCRIPTION


@pytest.mark.parametrize("skill", SKILLS)
def test_its_description_says_what_and_when(skill: Skill) -> None:
    first, *rest = re.split(r"(?<=\.) ", skill.description)
    assert first.endswith(".")
    assert any(sentence.startswith("Use it") for sentence in rest)


@pytest.mark.parametrize("skill", SKILLS)
def test_its_body_is_short_and_has_a_title(skill: Skill) -> None:
    rows = skill.body.splitlines()
    assert rows[0].startswith("# ")
    assert len(rows) <= LONGEST
    assert all(len(row) <= 110 or row.startswith(("|", "description")) for row in rows)


@pytest.mark.parametrize("skill", SKILLS)
def test_it_names_only_tools_that_there_are(skill: Skill) -> None:
    known = {*TAKEN, *(plug.name for plug in everything().tools)}
    named = set(re.findall(r"`([a-z]+_[a-z_]+|send|remember|task)`", skill.body))
    assert named <= known


@pytest.mark.parametrize("skill", SKILLS)
def test_files_that_it_names_are_there(skill: Skill) -> None:
    for name in re.findall(r"\]\(([^):#]+)\)", skill.body):
        assert (skill.folder / name).is_file(), name
