"""An agent folder, scanned again and again: cheap while nothing changes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from wakeful.config import FILE, KeyPath, Settings, Unreadable, read, read_toml
from wakeful.events import Fault
from wakeful.plugs.assemble import Read, assemble
from wakeful.plugs.find import (
    KINDS,
    Entry,
    Kind,
    Signature,
    entries,
    naming_faults,
    signature,
    usable,
)
from wakeful.plugs.instances import Written
from wakeful.plugs.modules import PREFIX, forget
from wakeful.plugs.ours import chosen, use_faults
from wakeful.plugs.reading import read_entry, read_text
from wakeful.plugs.shelf import Kept, Shelf
from wakeful.plugs.values import Snapshot

AGENTS = "AGENTS.md"


class Folder:
    """One agent folder. `scan` may be called from any thread."""

    def __init__(
        self, folder: Path, settings: Settings, *, overrides: Mapping[str, Any] | None = None
    ) -> None:
        self.path = folder
        self._settings = settings
        self._overrides = overrides
        self._agent_toml = signature(folder / FILE)
        self._shelf = Shelf(drop=_drop_modules)
        self._lock = threading.Lock()
        self._state: list[Signature] = []
        self._snapshot: Snapshot | None = None

    def scan(self) -> Snapshot:
        """What the folder holds now; the same object as before while no file has changed."""
        with self._lock:
            own = [entry for kind in KINDS for entry in entries(self.path, kind)]
            watched = [self.path / FILE, self.path / AGENTS, *(entry.path for entry in own)]
            state = [signature(path) for path in watched]
            if self._snapshot is None or state != self._state:
                self._snapshot = self._read(own)
                self._state = state
            return self._snapshot

    def _read(self, own: list[Entry]) -> Snapshot:
        faults, lines = self._reread_settings()
        agents = self._shelf.read(self.path / AGENTS, lambda: read_text(self.path / AGENTS))
        faults += agents.faults
        good: list[Entry] = []
        for kind in KINDS:
            of_kind = [entry for entry in own if entry.kind == kind]
            faults += naming_faults(of_kind)
            good += usable(of_kind)
        mine = [(entry, self._kept(entry)) for entry in good]
        ours = chosen(self._settings, good, _used(mine))
        faults += use_faults(self._settings, good, lines)
        self._shelf.retain([self.path / AGENTS, *(entry.path for entry in (*good, *ours))])
        read = [*mine, *((entry, self._kept(entry)) for entry in ours)]
        return assemble(Read(self._settings, agents, read, faults, self._snapshot))

    def _reread_settings(self) -> tuple[list[Fault], Mapping[KeyPath, int]]:
        """Edited settings replace those that were given; faulty ones do not."""
        try:
            _, lines = read_toml(self.path / FILE)
        except Unreadable:
            lines = {}
        now = signature(self.path / FILE)
        if now == self._agent_toml:
            return [], lines
        settings, faults = read(self.path, self._overrides)
        if settings is not None:
            self._settings, self._agent_toml = settings, now
        return faults, lines

    def _kept(self, entry: Entry) -> Kept:
        zone = self._settings.timezone
        salt = zone if entry.kind == "schedules" else ""
        return self._shelf.read(entry.path, lambda: read_entry(entry, zone), salt=salt)


def _used(read: Iterable[tuple[Entry, Kept]]) -> dict[Kind, set[str]]:
    """Plugs that TOML files name, by kind."""
    used: dict[Kind, set[str]] = {}
    for entry, kept in read:
        if isinstance(kept.value, Written):
            used.setdefault(entry.kind, set()).add(kept.value.use)
    return used


def _drop_modules(value: object) -> None:
    """A superseded plug leaves sys.modules one version later: it may still import from itself."""
    for each in value if isinstance(value, list) else [value]:
        module = each if isinstance(each, ModuleType) else getattr(each, "module", None)
        if isinstance(module, ModuleType) and module.__name__.startswith(PREFIX):
            forget(module.__name__)
