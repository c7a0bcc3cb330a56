"""Read a script from its TOML file; every fault is named with file, line and nearest right word.

[[turn]]
when = 'order (?P<order>A-[0-9]+)'
steps = [
  { call = "order_status", args = { order = "{order}" } },
  { say = "Order {order}: {result}" },
]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from wakeful.config import read as read_settings
from wakeful.config.lines import KeyPath, key_lines, line_of
from wakeful.config.words import unknown
from wakeful.errors import FolderFaulty
from wakeful.events import Fault
from wakeful.rehearsal.script import MAIN, PROVIDED, Script, Step, Turn
from wakeful.rehearsal.steps import STEP_KEYS, groups, make_step

MODEL = "rehearsal"
DEFAULT = "default.toml"
SCRIPT = "rehearsal.toml"  # an agent's own, when no option names another
TURN_KEYS = ("when", "agent", "recall", "steps")
TIMES_LIMIT = 10_000


class ScriptFaulty(FolderFaulty):
    """The script of the rehearsal model has faults."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


def read(path: Path | None = None) -> Script:
    """Read a script file, or the one that ships with the package."""
    if path is None:
        return parse(files("wakeful.rehearsal").joinpath(DEFAULT).read_text("utf-8"), DEFAULT)
    try:
        return parse(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        message = f"the script cannot be read ({error}); correct `script` in [model_options]"
        raise ScriptFaulty([Fault(file=str(path), message=message)]) from error


def script_faults(folder: Path) -> list[Fault]:
    """What is wrong with the script that an agent folder names, if its model plays one."""
    settings, _ = read_settings(folder)
    if settings is None or MODEL not in (settings.model, *settings.fallbacks):
        return []
    name = settings.model_options.get("script")
    if name is None:
        name = SCRIPT
        if not (folder / name).is_file():
            return []
    try:
        read(folder / str(name))
    except ScriptFaulty as error:
        return [replace(fault, file=str(name)) for fault in error.faults]
    return []


def parse(text: str, file: str = "rehearsal.toml") -> Script:
    """Read a script from its text; raises ScriptFaulty with all faults at once."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        line = int(place[1]) if place else len(text.splitlines()) or 1
        raise ScriptFaulty([Fault(file=file, line=line, message=f"no TOML: {error}")]) from error
    reader = _Reader(file, key_lines(text))
    turns = reader.turns(data)
    if reader.faults:
        raise ScriptFaulty(reader.faults)
    return Script(tuple(turns), file)


class _Reader:
    def __init__(self, file: str, lines: Mapping[KeyPath, int]) -> None:
        self.file, self.lines = file, lines
        self.faults: list[Fault] = []

    def turns(self, data: Mapping[str, Any]) -> list[Turn]:
        self.known(data, ("turn",), ())
        raw = data.get("turn", [])
        if not isinstance(raw, list) or not all(isinstance(turn, dict) for turn in raw):
            self.fault(("turn",), "write [[turn]], with two brackets, above each turn")
            return []
        return [made for n, turn in enumerate(raw) if (made := self.turn(turn, ("turn", n)))]

    def turn(self, raw: Mapping[str, Any], path: KeyPath) -> Turn | None:
        self.known(raw, TURN_KEYS, path)
        when, recall = self.pattern(raw, "when", path), self.pattern(raw, "recall", path)
        agent, steps = raw.get("agent", MAIN), raw.get("steps")
        if "when" not in raw:
            self.fault(path, "a turn needs `when`, a regular expression for the message")
        if not isinstance(agent, str):
            self.fault((*path, "agent"), "write the name of a sub-agent")
        if not isinstance(steps, list) or not steps:
            self.fault((*path, "steps"), 'a turn needs steps = [ { say = "..." } ]')
            return None
        names = set(PROVIDED) | groups(when) | groups(recall)
        made = [self.step(step, (*path, "steps", k), names) for k, step in enumerate(steps)]
        if when is None:
            return None
        return Turn(when=when, recall=recall, agent=str(agent), steps=tuple(chain(*made)))

    def step(self, raw: Any, path: KeyPath, names: set[str]) -> list[Step]:
        if not isinstance(raw, dict):
            self.fault(path, 'a step is a table, such as { say = "..." }')
            return []
        self.known(raw, STEP_KEYS, path)
        conditions = {key: self.pattern(raw, key, path) for key in ("if_result", "unless_result")}
        names |= groups(conditions["if_result"])

        def report(key: str, message: str) -> None:
            self.fault((*path, key), message)

        step = make_step(raw, conditions, names, report)
        times = raw.get("times", 1) if step.fail is None else 1
        if not isinstance(times, int) or not 1 <= times <= TIMES_LIMIT:
            self.fault((*path, "times"), f"use a number from 1 to {TIMES_LIMIT}")
            return []
        return [step] * times

    def pattern(self, raw: Mapping[str, Any], key: str, path: KeyPath) -> re.Pattern[str] | None:
        if key not in raw:
            return None
        if not isinstance(raw[key], str):
            self.fault((*path, key), "write a regular expression, best in '...'")
            return None
        try:
            return re.compile(raw[key])
        except re.error as error:
            self.fault((*path, key), f"this is no regular expression: {error}")
            return None

    def known(self, raw: Mapping[str, Any], keys: tuple[str, ...], path: KeyPath) -> None:
        for key in raw.keys() - set(keys):
            self.fault((*path, key), unknown("key", key, keys))

    def fault(self, path: KeyPath, message: str) -> None:
        key = next((part for part in reversed(path) if isinstance(part, str)), "")
        line = line_of(self.lines, path) or 1
        self.faults.append(Fault(file=self.file, line=line, key=key, message=message))
