"""Channels as the daemon finds them: by folder and name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from wakeful.plugs.find import builtin_root
from wakeful.plugs.modules import load_module


def channel(name: str) -> Any:
    """The module of one of our channels."""
    root = builtin_root() / "channels"
    path = root / name if (root / name).is_dir() else root / f"{name}.py"
    return load_module("channels", name, path)


def inner(module: ModuleType, name: str) -> Any:
    """A file inside a channel that is a folder."""
    return import_module(f"{module.__name__}.{name}")
