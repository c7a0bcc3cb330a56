"""Import a Python file or folder of the agent, under a name of its own.

An edited file is loaded again as a new module: what runs keeps the functions that it started with.
"""

from __future__ import annotations

import itertools
import sys
import traceback
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from wakeful.events import Fault

PREFIX = "wakeful_plug_"
INIT = "__init__.py"

_numbers = itertools.count(1)


class _Loader(SourceFileLoader):
    """Compiles from source: a bytecode file cannot tell two edits of one second apart."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Finder(MetaPathFinder):
    """Finds the other files of a plug that is a folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(PREFIX) or not path:
            return None
        tail = fullname.rpartition(".")[2]
        for folder in map(Path, path):
            for file in (folder / f"{tail}.py", folder / tail / INIT):
                if file.is_file():
                    return _spec(fullname, file)
        return None


def load_module(kind: str, name: str, path: Path) -> ModuleType:
    """Run a file, or the folder of that name. Whatever it raises comes out."""
    _install()
    file = path / INIT if path.is_dir() else path
    full_name = f"{PREFIX}{next(_numbers)}_{kind}_{name}"
    spec = _spec(full_name, file)
    module = module_from_spec(spec)
    sys.modules[full_name] = module  # before it runs: dataclasses look themselves up here
    try:
        assert spec.loader is not None
        spec.loader.exec_module(module)
    except BaseException:
        forget(full_name)
        raise
    return module


def forget(full_name: str) -> None:
    """Drop a module and those below it; functions that still run keep what they hold."""
    for name in [each for each in sys.modules if (each + ".").startswith(full_name + ".")]:
        del sys.modules[name]


def import_fault(error: BaseException, path: Path, name: str) -> Fault:
    """Why a file did not load, with the line that did it; faults call the file `name`."""
    if isinstance(error, SyntaxError) and error.filename:
        file = _named(Path(error.filename), path, name)
        return Fault(file=file, line=error.lineno, message=f"it is not Python: {error.msg}")
    place, line = name, None
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename) == path or path in Path(frame.filename).parents:
            place, line = _named(Path(frame.filename), path, name), frame.lineno
    return Fault(file=place, line=line, message=_reason(error))


def _reason(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and PREFIX not in error.name:
        return f'the module "{error.name}" is missing; install it where wakeful is installed'
    return f"it does not load: {type(error).__name__}: {error}".rstrip(": ")


def _named(file: Path, path: Path, name: str) -> str:
    inside = path.is_dir() and path in file.parents
    return f"{name}/{file.relative_to(path).as_posix()}" if inside else name


def _spec(full_name: str, file: Path) -> ModuleSpec:
    below = [str(file.parent)] if file.name == INIT else None
    spec = spec_from_file_location(
        full_name,
        file,
        loader=_Loader(full_name, str(file)),
        submodule_search_locations=below,
    )
    assert spec is not None, "a loader was given"
    return spec


def _install() -> None:
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
