"""The docs as data: fenced blocks, inline commands, links and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED_ABOVE = re.compile(r"^`([\w./-]+)`:\n\n\Z", re.MULTILINE)
NAMED_INSIDE = re.compile(r"\A# ([\w./-]+\.(?:toml|py))\n")
INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `path` is the file that it shows, if it shows one."""

    page: str
    language: str
    text: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.path or self.language}"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in FENCE.finditer(text):
        above = NAMED_ABOVE.search(text[: found.start()])
        inside = NAMED_INSIDE.match(found[2])
        path = (above and above[1]) or (inside and inside[1]) or ""
        yield Block(name_of(page), found[1], found[2], path)


def all_blocks() -> list[Block]:
    return [block for page in PAGES for block in blocks(page)]


def shell_lines(block: Block) -> list[str]:
    """The commands of a block, continued lines joined."""
    joined = block.text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text())


def inline(page: Path) -> list[str]:
    return [" ".join(found.split()) for found in INLINE.findall(prose(page))]


def links(page: Path) -> list[str]:
    return LINK.findall(prose(page))


def commands() -> list[tuple[str, str]]:
    """Every `wakeful ...` that the docs show, with its page."""
    shown = []
    for page in PAGES:
        shown += [(name_of(page), text) for text in inline(page) if text.startswith("wakeful ")]
        for block in blocks(page):
            if block.language == "sh":
                pieces = [piece for line in shell_lines(block) for piece in line.split("|")]
                shown += [
                    (name_of(page), piece.strip())
                    for piece in pieces
                    if piece.strip().startswith("wakeful ")
                ]
    return list(dict.fromkeys(shown))


def table_below(page: Path, heading: str) -> dict[str, list[str]]:
    """The first table below a heading: first cell, without its backticks, to the other cells."""
    after = prose(page).split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0]
    rows = [line for line in after.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {row[0].strip("`"): row[1:] for row in cells}
