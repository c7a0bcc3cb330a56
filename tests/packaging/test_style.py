"""The house rules that a machine can hold: sizes, and errors that nobody swallows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("daemon", "channels", "connections", "schedules", "skills", "tools", "tests")
FILE_LINES, FUNCTION_LINES = 350, 60
OPEN_ENDS = ("TO" + "DO:", "FIX" + "ME", "X" * 3)  # in pieces, so that this file is none of them


def sources() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return [path for path in found if "__pycache__" not in path.parts]


def complaints(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{node.name} has {lines} lines"
        elif isinstance(node, ast.ExceptHandler):
            if node.type is None:
                yield f"line {node.lineno}: an except without a kind"
            if len(node.body) == 1 and isinstance(node.body[0], ast.Pass):
                yield f"line {node.lineno}: an error that nobody hears of"


def test_every_file_can_be_held_in_the_head() -> None:
    found: dict[str, list[str]] = {}
    for path in sources():
        text = path.read_text("utf-8")
        wrong = [*complaints(ast.parse(text)), *(mark for mark in OPEN_ENDS if mark in text)]
        if (lines := len(text.splitlines())) > FILE_LINES:
            wrong.append(f"{lines} lines")
        if wrong:
            found[str(path.relative_to(ROOT))] = wrong
    assert found == {}


def unnamed(tree: ast.AST) -> Iterator[str]:
    """Lines of the log without an action, by which programs know them."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log.")):
            continue
        extra = next((ast.unparse(each.value) for each in node.keywords if each.arg == "extra"), "")
        if not re.search(r"'action': f?'[a-z_{}]+'", extra):
            yield f"line {node.lineno}: {ast.unparse(node)[:60]}"


def test_every_line_of_the_log_has_an_action() -> None:
    shipped = [path for path in sources() if "tests" not in path.parts]
    found = {str(path): list(unnamed(ast.parse(path.read_text("utf-8")))) for path in shipped}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_what_is_wrong_is_seen() -> None:
    long = "def f():\n" + "    a = 1\n" * FUNCTION_LINES
    hidden = "try:\n    f()\nexcept:\n    pass\n"
    assert len(list(complaints(ast.parse(long + hidden)))) == 3
    assert (
        len(list(unnamed(ast.parse("log.info('x', extra={'action': 'a-b'})\nlog.error('y')")))) == 2
    )
