"""Which of the plugs that come with Wakeful are on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from wakeful.config import FILE, KeyPath, Settings, line_of, unknown
from wakeful.events import Fault
from wakeful.plugs.find import Entry, Kind, builtin_root, entries, usable

CHOSEN: tuple[Kind, ...] = ("tools", "skills", "schedules", "channels")


@lru_cache(maxsize=1)
def available() -> Mapping[Kind, Mapping[str, Entry]]:
    """All that comes with Wakeful; it does not change while the daemon runs."""
    root = builtin_root()
    kinds: tuple[Kind, ...] = (*CHOSEN, "connections")
    return {
        kind: {entry.name: entry for entry in usable(entries(root, kind, ours=True))}
        for kind in kinds
    }


def chosen(settings: Settings, own: Iterable[Entry], used: Mapping[Kind, set[str]]) -> list[Entry]:
    """Those that `[use]` or a TOML file names and for which the agent has none of its own."""
    hidden = {(entry.kind, entry.name) for entry in own if entry.suffix != ".toml"}
    found: list[Entry] = []
    for kind, plugs in available().items():
        wanted = {*getattr(settings.use, kind, ()), *used.get(kind, set())}
        found += [
            entry for name, entry in plugs.items() if name in wanted and (kind, name) not in hidden
        ]
    return found


def use_faults(
    settings: Settings, own: Iterable[Entry], lines: Mapping[KeyPath, int]
) -> list[Fault]:
    """Names under `[use]` that are nothing."""
    mine = {(entry.kind, entry.name) for entry in own}
    faults: list[Fault] = []
    for kind in CHOSEN:
        for index, name in enumerate(getattr(settings.use, kind)):
            if name not in available()[kind] and (kind, name) not in mine:
                path: KeyPath = ("use", kind, index)
                message = unknown(kind.removesuffix("s"), name, available()[kind])
                line = line_of(lines, path)
                faults.append(Fault(file=FILE, line=line, key=f"use.{kind}", message=message))
    return faults
