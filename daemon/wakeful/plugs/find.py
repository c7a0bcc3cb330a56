"""Which plugs there are: files and folders, found by kind and name."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wakeful import builtin
from wakeful.events import Fault
from wakeful.plugs.carried import is_aside
from wakeful.plugs.modules import INIT

Kind = Literal["channels", "connections", "schedules", "skills", "subagents", "tools"]
Signature = tuple[tuple[str, int, int, int], ...]

KINDS: tuple[Kind, ...] = (
    "channels",
    "connections",
    "schedules",
    "skills",
    "subagents",
    "tools",
)
SUFFIXES: dict[Kind, tuple[str, ...]] = {
    "channels": (".py", ".toml"),
    "connections": (".py", ".toml"),
    "schedules": (".py", ".md"),
    "skills": (),
    "subagents": (".md",),
    "tools": (".py",),
}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """One plug file or folder. `suffix` is empty for a folder."""

    kind: Kind
    name: str
    suffix: str
    path: Path
    ours: bool = False

    @property
    def file(self) -> str:
        """What faults call it."""
        return f"{self.kind}/{self.path.name}"


def builtin_root() -> Path:
    return Path(builtin.__path__[0])


def entries(root: Path, kind: Kind, *, ours: bool = False) -> list[Entry]:
    """The plugs of one kind below a root, sorted by name."""
    try:
        found = sorted((root / kind).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    made = (_entry(kind, path, ours) for path in found if not path.name.startswith((".", "_")))
    return [entry for entry in made if entry]


def _entry(kind: Kind, path: Path, ours: bool) -> Entry | None:
    if path.is_dir():
        return Entry(kind, path.name, "", path, ours) if _is_plug_folder(kind, path) else None
    if path.suffix in SUFFIXES[kind] and path.is_file():
        return Entry(kind, path.stem, path.suffix, path, ours)
    return None


def _is_plug_folder(kind: Kind, path: Path) -> bool:
    if kind == "skills":
        return True
    return ".py" in SUFFIXES[kind] and any(path.glob("*.py"))


def naming_faults(found: list[Entry]) -> Iterator[Fault]:
    """Names that cannot be used, two plugs of one name, folders that cannot be imported."""
    first: dict[tuple[str, bool], Entry] = {}
    for entry in found:
        if not _NAME.fullmatch(entry.name):
            message = "a plug's name is made of letters, digits, - and _; rename it"
            yield Fault(file=entry.file, message=message)
        settings = entry.suffix == ".toml"
        other = first.setdefault((entry.name, settings), entry)
        if other is not entry:
            message = f'"{entry.name}" is {other.path.name} too; keep one of them'
            yield Fault(file=entry.file, message=message)
        if not entry.suffix and entry.kind != "skills" and not (entry.path / INIT).is_file():
            yield Fault(file=entry.file, message=f"a plug that is a folder needs an {INIT}")


def usable(found: list[Entry]) -> list[Entry]:
    """Those without a naming fault; of two with one name, the first."""
    wrong = {fault.file for fault in naming_faults(found)}
    return [entry for entry in found if entry.file not in wrong]


def signature(path: Path) -> Signature:
    """What changes when a file, or a file in a folder, is edited; empty when it is not there."""
    try:
        if not path.is_dir():
            return (_stamp(path),)
        return tuple(_stamp(file) for file in _files(path))
    except OSError:
        return ()


def digest(path: Path) -> str:
    """Of the content of a file or folder."""
    content = hashlib.sha256()
    for file in _files(path) if path.is_dir() else [path]:
        with file.open("rb") as data:
            inner = hashlib.file_digest(data, "sha256").hexdigest()
        name = file.relative_to(path) if file != path else Path(file.name)
        may_run = os.access(file, os.X_OK)
        content.update(f"{name}\0{may_run}\0{inner}\0".encode("utf-8", "surrogateescape"))
    return content.hexdigest()[:16]


def _files(folder: Path) -> list[Path]:
    skip = is_aside if folder.parent.name == "skills" else _is_hidden
    found: list[Path] = []
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not skip(name))
        paths = (Path(where, name) for name in sorted(names) if not skip(name))
        found.extend(path for path in paths if path.is_file())  # a pipe would block its reader
    return found


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__pycache__"))


def _stamp(file: Path) -> tuple[str, int, int, int]:
    stat = file.stat()
    return str(file), stat.st_mtime_ns, stat.st_size, stat.st_ctime_ns  # mtime can be set back
