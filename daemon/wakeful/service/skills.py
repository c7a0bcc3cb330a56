"""The skills of a folder as a person sees them: in use, in quarantine, or a draft of the agent's.

Everything is read from disk when it is asked for, and what is shown carries the digest of what was
read: an acceptance counts for exactly that.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeful import files
from wakeful.config import Settings
from wakeful.errors import Refused, Stale, Unknown
from wakeful.plugs.carried import Carried, carried
from wakeful.plugs.find import entries, usable
from wakeful.plugs.ours import chosen
from wakeful.plugs.skills import NAME, read_skill
from wakeful.skill import Skill
from wakeful.skills.diff import compare
from wakeful.skills.trust import PINNED, quarantined
from wakeful.store import Store, Views, pinned

Row = dict[str, Any]
Pinned = Mapping[str, Mapping[str, str]]

DRAFTS = Path(".wakeful", "workspace")  # the agent writes drafts below its own /skills/
ACCEPTED = Path(".wakeful", "accepted")  # copies of what was accepted last, for the next diff
EMPTY = Carried({})
WAITING = ("quarantined", "draft")
FIRST = (*WAITING, "in use", "ours")  # those first that a person can do something about


@dataclass(frozen=True, slots=True)
class Shown:
    """One skill, where it stands, and what to compare it with."""

    skill: Skill
    state: str  # one of FIRST
    before: Path | None  # the folder that it would replace, or that was accepted before

    def row(self, pin: Mapping[str, str] | None = None) -> Row:
        return {
            "name": self.skill.name,
            "state": self.state,
            "description": self.skill.description,
            "digest": self.skill.digest,
            "why": [str(each) for each in self.skill.findings] if not self.skill.ours else [],
            "accepted_by": pin["by"] if pin else None,
            "accepted_at": pin["at"] if pin else None,
        }


class SkillBook:
    """Lists, compares and accepts. Its look at the disk runs off the loop."""

    def __init__(self, home: Path, settings: Settings, view: Views) -> None:
        self._home, self._settings, self._view = home, settings, view

    async def rows(self) -> list[Row]:
        """Every skill and draft, those first that wait for a person."""
        pins = await pinned(self._view, PINNED)
        found = await asyncio.to_thread(lambda: list(self._all(pins)))
        found.sort(key=lambda each: (FIRST.index(each.state), each.skill.name))
        return [each.row(_pin_of(each, pins)) for each in found]

    async def waiting(self) -> list[str]:
        """Names of skills that are not used before somebody has accepted them."""
        return [row["name"] for row in await self.rows() if row["state"] == "quarantined"]

    async def row(self, name: str) -> Row:
        """One skill with its diff: what is quarantined first, then a draft of that name."""
        pins = await pinned(self._view, PINNED)
        return await asyncio.to_thread(self._row, name, pins)

    async def accept(self, store: Store, name: str, digest: str, *, by: str) -> Row:
        """Let a version be used that a person has seen. Raises Unknown, Stale or Refused."""
        pins = await pinned(self._view, PINNED)
        await asyncio.to_thread(self._take, name, digest, pins)
        await store.pin(PINNED, name, digest, by=by)
        return await self.row(name)

    def _row(self, name: str, pins: Pinned) -> Row:
        found = self._find(name, pins)
        held = carried(found.skill.folder)
        row = {**found.row(_pin_of(found, pins)), "digest": held.digest}
        return {**row, "diff": compare(self._before(found, pins).files, held.files)}

    def _take(self, name: str, digest: str, pins: Pinned) -> None:
        found = self._find(name, pins)
        held = carried(found.skill.folder)
        if held.digest != digest:
            raise Stale(f"the skill {name} has changed meanwhile; look at its diff again")
        if found.state not in WAITING:
            raise Refused(f"the skill {name} is in use; there is nothing to accept")
        if found.state == "draft":
            _put_folder(self._home / "skills" / name, held)
        _put_folder(self._home / ACCEPTED / name, held)

    def _find(self, name: str, pins: Pinned) -> Shown:
        of_name = [each for each in self._all(pins) if each.skill.name == name]
        of_name.sort(key=lambda each: FIRST.index(each.state))
        if of_name:
            return of_name[0]
        for folder in (self._home / "skills" / name, self._home / DRAFTS / "skills" / name):
            if NAME.fullmatch(name) and folder.is_dir():
                raise Refused("; ".join(map(str, read_skill(folder)[1])))
        raise Unknown(f'there is no skill "{name}"; `wakeful skills` lists them')

    def _all(self, pins: Pinned) -> Iterator[Shown]:
        digests = {name: pin["digest"] for name, pin in pins.items()}
        own = usable(entries(self._home, "skills"))
        ours = [each for each in chosen(self._settings, own, {}) if each.kind == "skills"]
        installed: dict[str, Skill] = {}
        for entry in (*own, *ours):
            skill, _ = read_skill(entry.path, ours=entry.ours)
            if skill is None:
                continue
            installed[skill.name] = skill
            state = "quarantined" if quarantined(skill, digests) else "in use"
            yield Shown(skill, "ours" if skill.ours else state, self._home / ACCEPTED / skill.name)
        for entry in usable(entries(self._home / DRAFTS, "skills")):
            draft, _ = read_skill(entry.path)
            there = installed.get(entry.name)
            if draft and (there is None or there.digest != draft.digest):
                yield Shown(draft, "draft", there.folder if there else None)

    def _before(self, found: Shown, pins: Pinned) -> Carried:
        """What a person has seen already; a copy that is not what was accepted counts for nothing.

        An unpinned version in use was never shown: all of it is new.
        """
        if found.before is None or not found.before.is_dir():
            return EMPTY
        before = carried(found.before)
        if found.state == "draft":
            return before
        pin = pins.get(found.skill.name)
        return before if pin and pin["digest"] == before.digest else EMPTY


def _pin_of(found: Shown, pins: Pinned) -> Mapping[str, str] | None:
    """Who accepted just this version."""
    pin = pins.get(found.skill.name)
    return pin if pin and pin["digest"] == found.skill.digest else None


def _put_folder(place: Path, held: Carried) -> None:
    """Let a folder hold exactly this. The new one is whole before the old one goes."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    new, old = (place.with_name(f".{place.name}.{word}") for word in ("new", "old"))
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    for name, data in held.files.items():
        path = new / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        files.put(path, data, mode=0o644)
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)
