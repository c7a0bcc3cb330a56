"""What was loaded from each file: kept until it changes, and longer when the new one is bad."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from wakeful.events import Fault
from wakeful.plugs.find import KINDS, Signature, digest, signature

T = TypeVar("T")
Loaded = tuple[T | None, list[Fault]]

KEPT = "; its last good version stays in use"


@dataclass(frozen=True, slots=True)
class Kept:
    signature: Signature
    digest: str
    value: Any
    faults: tuple[Fault, ...]
    salt: str


class Shelf:
    """One per folder. `drop` is told of a value that is two versions old."""

    def __init__(self, drop: Callable[[Any], None] = lambda value: None) -> None:
        self._kept: dict[Path, Kept] = {}
        self._older: dict[Path, Any] = {}
        self._drop = drop

    def read(self, path: Path, load: Callable[[], Loaded[T]], *, salt: str = "") -> Kept:
        """What a file or folder holds; `load` runs only when it, or `salt`, has changed."""
        now = signature(path)  # before the load: an edit meanwhile is seen by the next scan
        old = self._kept.get(path)
        if old and (old.signature, old.salt) == (now, salt):
            return old
        try:
            content = digest(path) if now else ""
            value, faults = load()
        except OSError as error:
            content, value = "", None
            faults = [Fault(file=_called(path), message=f"it cannot be read: {error.strerror}")]
        kept = Kept(now, content, value, tuple(faults), salt)
        if old and old.value is not None:
            kept = self._supersede(path, old, kept)
        self._kept[path] = kept
        return kept

    def retain(self, paths: Iterable[Path]) -> None:
        """Forget files that are gone."""
        for path in set(self._kept) - set(paths):
            del self._kept[path]
            self._older.pop(path, None)

    def _supersede(self, path: Path, old: Kept, new: Kept) -> Kept:
        if new.value is None:
            faults = tuple(_with_note(fault) for fault in new.faults)
            return replace(new, value=old.value, digest=old.digest, faults=faults)
        if path in self._older:
            self._drop(self._older[path])
        self._older[path] = old.value
        return new


def _called(path: Path) -> str:
    inside = path.parent.name in KINDS
    return f"{path.parent.name}/{path.name}" if inside else path.name


def _with_note(fault: Fault) -> Fault:
    return fault if fault.warning else replace(fault, message=fault.message + KEPT)
