"""Nothing waits for ever, grows without end or lies open to others; exceptions say why."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("daemon/wakeful", "channels", "connections", "schedules", "tools")

# What waits for somebody else, and the argument that says how long.
WAITING = {
    "httpx.AsyncClient": "timeout",
    "httpx.Client": "timeout",
    "psycopg.connect": "connect_timeout",
    "sqlite3.connect": "timeout",
    "subprocess.run": "timeout",
}
PATIENT = {"daemon/wakeful/store/reading.py"}  # an empty database in memory: nobody else has it
QUEUES = ("asyncio.Queue", "queue.Queue", "queue.SimpleQueue")
UNBOUNDED = {
    "daemon/wakeful/store/database.py",  # a semaphore in front of it has MAX_WAITING places
    "daemon/wakeful/cli/lines.py",  # what one person types
}
OPEN_FOLDERS = {
    "daemon/wakeful/agent/local.py",  # models that anybody may have
    "daemon/wakeful/agent/workspace.py",  # below a folder that is closed already
    "daemon/wakeful/cli/init.py",  # the user's own folder, as the user's umask says
}
PLAIN_WRITES = {
    "daemon/wakeful/agent/local.py",
    "daemon/wakeful/cli/init.py",
    "daemon/wakeful/rehearsal/demo.py",  # a schedule of the demo's own folder
}
WRITERS = (".write_text", ".write_bytes")

Rule = Callable[[str, ast.Call, set[str]], bool]


def calls() -> Iterator[tuple[str, ast.Call]]:
    for folder in SHIPPED:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    yield path.relative_to(ROOT).as_posix(), node


def found(rule: Rule) -> set[str]:
    """The files with a call that the rule complains about."""
    return {
        file
        for file, call in calls()
        if rule(ast.unparse(call.func), call, {each.arg or "**" for each in call.keywords})
    }


def test_what_waits_for_others_says_how_long() -> None:
    def endless(name: str, call: ast.Call, given: set[str]) -> bool:
        return name in WAITING and WAITING[name] not in given

    assert found(endless) == PATIENT


def test_a_queue_has_a_bound() -> None:
    def unbounded(name: str, call: ast.Call, given: set[str]) -> bool:
        return name.partition("[")[0] in QUEUES and not call.args and "maxsize" not in given

    assert found(unbounded) == UNBOUNDED


def test_a_folder_that_we_make_is_for_us() -> None:
    def opened(name: str, call: ast.Call, given: set[str]) -> bool:
        return name.endswith(".mkdir") and "mode" not in given

    assert found(opened) == OPEN_FOLDERS


def test_a_file_that_we_write_is_whole_and_has_a_mode() -> None:
    def plain(name: str, call: ast.Call, given: set[str]) -> bool:
        modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
        opens = name == "open" or name.endswith((".open", "fdopen"))
        if opens and any(mode in ("w", "wb", "a", "x") for mode in modes):
            return not name.endswith("fdopen")
        return name.endswith(WRITERS)

    assert found(plain) == PLAIN_WRITES
