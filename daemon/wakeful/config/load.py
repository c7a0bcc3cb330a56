"""Read the settings: command line, then WAKEFUL_* variables, then agent.toml, then defaults."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource, SettingsError

from wakeful.config.lines import KeyPath, key_lines, texts
from wakeful.config.settings import Settings
from wakeful.config.words import explain, nearest
from wakeful.errors import FolderFaulty, Unknown
from wakeful.events import Fault
from wakeful.redact import looks_secret

FILE = "agent.toml"
ENVIRONMENT = "the environment"
COMMAND_LINE = "the command line"
PREFIX = "WAKEFUL_"
DEEPEST = 50  # levels of tables and lists

Values = Mapping[str, Any]


def find_folder(start: Path | None = None) -> Path:
    """The nearest folder with an agent.toml, from here upward. Raises Unknown."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            return folder
    raise Unknown(f"there is no {FILE} in {here} or above it; `wakeful init` writes one")


def load(folder: Path, overrides: Values | None = None) -> Settings:
    """The settings of an agent folder. Raises FolderFaulty with every fault that stands in them."""
    settings, found = read(folder, overrides)
    serious = [fault for fault in found if not fault.warning]
    if settings is None or serious:
        raise FolderFaulty(faults=serious)
    return settings


def faults(folder: Path, overrides: Values | None = None) -> list[Fault]:
    """Everything that is wrong in the settings, all at once."""
    return read(folder, overrides)[1]


def read(folder: Path, overrides: Values | None = None) -> tuple[Settings | None, list[Fault]]:
    """The settings, unless they are faulty, and the faults, warnings included."""
    try:
        values, lines = read_toml(folder / FILE)
    except Unreadable as error:
        return None, [error.fault]
    try:
        environment = _from_environment()
    except SettingsError as error:
        return None, [_unreadable_variable(error)]
    given = overrides or {}
    found = [*secret_in_text(FILE, values, lines), *_mistyped_variables()]
    try:
        settings = Settings(**merge(merge(values, environment), given))
    except ValidationError as error:
        wrong = explain(error, Settings, file=FILE, lines=lines)
        placed = sorted(wrong, key=lambda fault: fault.line or 0)
        return None, [*(_source(fault, environment, given) for fault in placed), *found]
    return settings, [*found, *_key_file_fault(folder, settings, lines)]


def _key_file_fault(
    folder: Path, settings: Settings, lines: Mapping[KeyPath, int]
) -> Iterator[Fault]:
    key_file = settings.secrets.key_file
    if key_file and folder.resolve() in (folder / key_file).resolve().parents:
        message = "the key lies in the folder whose secrets it opens; put it somewhere else"
        line = lines.get(("secrets", "key_file"))
        yield Fault(file=FILE, line=line, key="secrets.key_file", message=message, security=True)


class Unreadable(Exception):
    """A settings file that is no TOML."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def read_toml(path: Path, name: str = "") -> tuple[dict[str, Any], dict[KeyPath, int]]:
    """Values and key lines of a TOML file; `name` is what a fault calls it. Raises Unreadable."""
    name = name or path.name
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        return _shallow(tomllib.loads(text)), key_lines(text)
    except FileNotFoundError:
        message = f"there is no {name} in {path.parent}; `wakeful init` writes one"
        raise Unreadable(Fault(file=name, message=message)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(Fault(file=name, message=f"it cannot be read: {error}")) from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(_no_toml(name, error)) from None


def _shallow(values: dict[str, Any]) -> dict[str, Any]:
    """The same values, unless they are nested as no person nests them. Raises ValueError."""
    level: list[Any] = [values]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
    if level:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    return values


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def merge(base: Values, above: Values) -> dict[str, Any]:
    """Tables are merged key by key, anything else is replaced."""
    merged = dict(base)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            value = merge(old, value)
        merged[key] = value
    return merged


def secret_in_text(file: str, values: Values, lines: Mapping[KeyPath, int]) -> Iterator[Fault]:
    """Warnings for values that have the shape of a token: here stand names of secrets only."""
    for path, value in texts(values):
        if looks_secret(value):
            yield Fault(
                file=file,
                line=lines.get(path),
                key=".".join(str(part) for part in path),
                message='this looks like a secret; store it and write "secret:NAME" instead',
                warning=True,
            )


def _from_environment() -> dict[str, Any]:
    """What WAKEFUL_* variables say; others with our prefix belong to somebody else."""
    found = EnvSettingsSource(Settings)()
    return {name: value for name, value in found.items() if name in Settings.model_fields}


def _no_toml(name: str, error: Exception) -> Fault:
    # Python 3.11 to 3.13 put the place into the message only.
    place = re.search(r"\(at (?:line (\d+), column \d+|end of document)\)", str(error))
    line = int(place[1]) if place and place[1] else None
    message = re.sub(r" \(at line.*\)$", "", str(error))
    return Fault(file=name, line=line, message=f"it is not TOML: {message}")


def _source(fault: Fault, environment: Values, given: Values) -> Fault:
    """The same fault, said of the place where the wrong value really stands."""
    path = fault.key.split(".") if fault.key else []
    if _stands_in(given, path):
        return _elsewhere(fault, COMMAND_LINE, fault.key)
    if _stands_in(environment, path):
        return _elsewhere(fault, ENVIRONMENT, variable(path))
    return fault


def _elsewhere(fault: Fault, place: str, key: str) -> Fault:
    return Fault(file=place, key=key, message=fault.message, security=fault.security)


def variable(path: list[str]) -> str:
    """The environment variable of a setting."""
    return PREFIX + "__".join(path).upper()


def _stands_in(values: Values, path: list[str]) -> bool:
    at: Any = values
    for part in path:
        if not isinstance(at, Mapping):
            return True  # the path goes into a value that was given here as a whole
        if part not in at:
            return False
        at = at[part]
    return bool(path)


def _unreadable_variable(error: SettingsError) -> Fault:
    found = re.search(r'field "([^"]+)"', str(error))
    key = variable([found[1]]) if found else ""
    return Fault(file=ENVIRONMENT, key=key, message='write it as JSON, such as ["one", "two"]')


def _mistyped_variables() -> Iterator[Fault]:
    """Variables that look like a setting and are none; others with our prefix are left alone."""
    for name in sorted(os.environ):
        head = name.upper().partition("__")[0]
        word = head.removeprefix(PREFIX).lower()
        if head.startswith(PREFIX) and word not in Settings.model_fields:
            near = nearest(word, Settings.model_fields)
            if near:
                message = f"this variable is not read; did you mean {variable([near])}?"
                yield Fault(file=ENVIRONMENT, key=name, message=message, warning=True)
