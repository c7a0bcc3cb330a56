"""Every plug that comes with Wakeful, loaded the way the daemon loads them."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from wakeful.config import Settings
from wakeful.plugs import Folder, Snapshot
from wakeful.plugs.find import Entry
from wakeful.plugs.ours import available

CONTRACTS = {
    *("channel", "connection", "errors", "events", "host"),
    *("outbound", "schedule", "skill", "tool"),
}
HEAVY = {
    "aiohttp",
    "apscheduler",
    "authlib",
    "deepagents",
    "httpx",
    "keyring",
    "langchain",
    "langchain_core",
    "langgraph",
    "slack_bolt",
    "slack_sdk",
    "sqlalchemy",
}


def ours(kind: str) -> list[Entry]:
    return [
        entry for name, plugs in available().items() if name == kind for entry in plugs.values()
    ]


@lru_cache(maxsize=1)
def everything() -> Snapshot:
    """All of ours, switched on by `[use]`, in a folder that has nothing else."""
    use = {
        kind: tuple(available()[kind])
        for kind in ("tools", "skills", "schedules")  # a channel is opened by its settings
    }
    settings = Settings.model_validate({"model": "rehearsal", "use": use})
    return Folder(Path("/nonexistent/agent"), settings).scan()


def sources(entry: Entry) -> list[Path]:
    return sorted(entry.path.rglob("*.py")) if entry.path.is_dir() else [entry.path]


def forbidden_imports(entry: Entry) -> list[str]:
    """What a plug may not import: the core beyond its contracts, and heavy packages at the top."""
    found: list[str] = []
    for file in sources(entry):
        tree = ast.parse(file.read_text("utf-8"))
        found += [f"{file.name}: {name}" for name in _imports(ast.walk(tree)) if _is_core(name)]
        found += [
            f"{file.name}: {name} at the top"
            for name in _imports(tree.body)
            if name.partition(".")[0] in HEAVY
        ]
    return found


def _is_core(name: str) -> bool:
    parts = name.split(".")
    return parts[0] == "wakeful" and (len(parts) < 2 or parts[1] not in CONTRACTS)


def _imports(nodes: object) -> list[str]:
    found: list[str] = []
    for node in nodes:  # type: ignore[attr-defined]
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.append(node.module or "")
    return found
