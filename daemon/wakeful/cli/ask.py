"""Who answers a command: the running daemon over its API, or the store of one that is down.

Both speak the API's own JSON, so a command does not know whom it asked.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from wakeful.cli.daemon import Daemon, find_daemon
from wakeful.cli.exits import UNKNOWN, Fail
from wakeful.cli.folder import settings_of
from wakeful.errors import Unknown

Row = dict[str, Any]
T = TypeVar("T")


class Answers(Protocol):
    """What both can be asked. `running` says which of the two it is."""

    running: bool

    def status(self) -> Row: ...
    def threads(self, limit: int) -> list[Row]: ...
    def thread(self, key: str, limit: int) -> Row: ...
    def runs(self, limit: int, state: str | None) -> list[Row]: ...
    def run(self, event: int) -> Row: ...
    def waits(self, state: str) -> list[Row]: ...
    def effects(self, limit: int, state: str | None) -> list[Row]: ...
    def schedules(self) -> list[Row]: ...
    def decide(self, wait: str, decision: Row) -> Row: ...
    def replay(self, event: int) -> int: ...
    def run_schedule(self, name: str) -> int: ...
    def skills(self) -> list[Row]: ...
    def skill(self, name: str) -> Row: ...
    def accept_skill(self, name: str, digest: str) -> Row: ...


def ask(home: Path) -> Answers:
    """The daemon of this folder when it is up, else the folder's store."""
    settings = settings_of(home)
    found: Daemon | None = find_daemon(home, settings)
    if found:
        return found
    from wakeful.cli.books import Books

    return Books(home, settings)


def about(event: int, question: Callable[[int], T]) -> T:
    """Ask about one event; both answer with one sentence when there is none."""
    try:
        return question(event)
    except (Fail, Unknown) as error:
        if isinstance(error, Fail) and error.exit_code != UNKNOWN:
            raise
        raise Fail(f"there is no event {event}; `wakeful runs` lists them.", UNKNOWN) from error
