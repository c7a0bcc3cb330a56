"""`schedules/*.md` and `schedules/*.py` -> rules, or what is wrong with them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args

from wakeful.config import FrontMatterError, nearest, read_front_matter, unknown
from wakeful.events import Fault
from wakeful.plugs.handler import HandlerFaulty, read_handler
from wakeful.schedule import CatchUp, Rule, ThreadMode
from wakeful.schedule.cron import timetable
from wakeful.schedule.times import parse_at, parse_every
from wakeful.schedule.zones import zone

TRIGGERS = ("cron", "every", "at")
KEYS = (*TRIGGERS, "timezone", "deliver", "thread", "catch_up")
HANDLER_KEYS = (*TRIGGERS, "timezone", "deliver", "catch_up")
THREADS: tuple[ThreadMode, ...] = get_args(ThreadMode)
CATCH_UPS: tuple[CatchUp, ...] = get_args(CatchUp)
W = TypeVar("W", bound=str)
_BARE_CRON = re.compile(r"^(cron:[ \t]*)([*@][^\n]*?)[ \t]*$", re.MULTILINE)
_ADDRESS = re.compile(r"[\w.-]+:\S.*")


def parse(path: Path, *, default_zone: str = "UTC") -> Rule | list[Fault]:
    """Read one schedule; with faults, all of them at once."""
    draft = _Draft(path, default_zone)
    try:
        rule = _prompt(draft) if path.suffix == ".md" else _handler(draft)
    except FrontMatterError as error:
        return [Fault(file=draft.file, line=error.line, message=str(error))]
    except HandlerFaulty as error:
        return [error.fault]
    return draft.faults or rule


def unread(faults: Iterable[Fault]) -> set[str]:
    """Names of schedules whose files are there, but cannot be used now."""
    wrong = (Path(fault.file).parts for fault in faults if not fault.warning)
    return {Path(parts[1]).stem for parts in wrong if len(parts) > 1 and parts[0] == "schedules"}


@dataclass
class _Draft:
    """A schedule while it is read: its values, where they stand, and what is wrong so far."""

    path: Path
    zone: str
    spell: Callable[[str], str] = str
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    @property
    def file(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    def fault(self, message: str, key: str = "") -> None:
        spelled = self.spell(key) if key else ""
        self.faults.append(
            Fault(file=self.file, line=self.lines.get(key), key=spelled, message=message)
        )

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return (value or "").strip()
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.fault(f"write one text here, not {_kind(value)}", key)
            return ""
        return str(value)

    def choice(self, key: str, allowed: tuple[W, ...], default: W) -> W:
        word = self.text(key) or default
        found = next((each for each in allowed if each == word), None)
        if found is None:
            self.fault(unknown("value", word, allowed), key)
        return found or default

    def attempt(self, key: str, read: Callable[[], Any]) -> Any:
        """The value, or None and a fault when its reader refuses it."""
        try:
            return read()
        except ValueError as error:
            self.fault(str(error), key)
            return None


def _prompt(draft: _Draft) -> Rule:
    matter = read_front_matter(_quote_cron(draft.path.read_text(encoding="utf-8")))
    draft.values, draft.lines = matter.data, matter.lines
    for key in matter.data:
        if key not in KEYS:
            draft.fault(unknown("setting", str(key), KEYS), str(key))
    if not matter.body.strip():
        draft.fault("below the settings stands the prompt, and it is empty; say what to do")
    return _rule(draft, prompt=matter.body.strip())


def _handler(draft: _Draft) -> Rule:
    draft.spell = str.upper
    handler = read_handler(draft.path, draft.file)
    names = {key.upper(): key for key in HANDLER_KEYS}
    draft.values = {names[name]: value for name, value in handler.values.items() if name in names}
    draft.lines = {names.get(name, name): line for name, line in handler.lines.items()}
    for name in handler.lines:
        near = nearest(name, names) if name not in names else None
        if near and names[near] not in draft.values:
            draft.fault(unknown("setting", name, names), name)
    return _rule(draft, run=handler.run)


def _quote_cron(text: str) -> str:
    """Put the quotes around a cron expression that YAML needs and people forget."""
    head, fence, body = text.removeprefix("\ufeff").partition("\n---")
    quoted = _BARE_CRON.sub(lambda found: f"{found[1]}'{_uncomment(found[2])}'", head)
    return quoted + fence + body


def _uncomment(value: str) -> str:
    return value.partition(" #")[0].rstrip()


def _rule(draft: _Draft, **what: Any) -> Rule:
    """The rule of a draft; it means something only when the draft has no faults."""
    timezone = draft.text("timezone") or draft.zone
    known = draft.attempt("timezone", lambda: zone(timezone)) is not None
    when = _when(draft, timezone if known else "UTC")
    deliver = draft.text("deliver")
    if deliver and not _ADDRESS.fullmatch(deliver):
        draft.fault('an address is "<channel>:<where>", for example "console:reports"', "deliver")
    return Rule(
        name=draft.path.stem,
        timezone=timezone,
        deliver=deliver,
        thread=draft.choice("thread", THREADS, "continue"),
        catch_up=draft.choice("catch_up", CATCH_UPS, "once"),
        file=draft.file,
        digest=_digest(when, timezone),
        **when,
        **what,
    )


def _when(draft: _Draft, timezone: str) -> dict[str, Any]:
    """The one setting that says when it fires, as the rule holds it."""
    given = [key for key in TRIGGERS if key in draft.values]
    names = ", ".join(draft.spell(key) for key in TRIGGERS)
    if not given:
        draft.fault(f"nothing says when it fires; write one of {names}")
        return {}
    if len(given) > 1:
        draft.fault(f"several settings say when it fires; keep one of {names}", given[-1])
    key, text = given[0], draft.text(given[0])
    readers: dict[str, Callable[[], Any]] = {
        "cron": lambda: timetable(text, timezone) and text,
        "every": lambda: parse_every(text),
        "at": lambda: parse_at(text, timezone),
    }
    return {key: draft.attempt(key, readers[key])}


def _digest(when: Mapping[str, Any], timezone: str) -> str:
    """Another prompt leaves the timing alone; another time or zone starts it anew."""
    where = timezone if "cron" in when else ""
    return hashlib.sha256(repr((sorted(when.items()), where)).encode()).hexdigest()[:16]


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "yes or no"
    return "a list" if isinstance(value, list | tuple) else "a table"
