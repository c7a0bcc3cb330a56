"""What in a skill can act: scripts, programs, and lines that fetch something and run it.

No list of patterns is complete. What one overlooks is prose, and prose reaches no further than the
tools that the agent has anyway; what one finds is not used before a person has seen it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import PurePosixPath

from wakeful.plugs.carried import Carried
from wakeful.skill import Finding

_SUFFIXES = """
.sh .bash .zsh .fish .ksh .csh .command .ps1 .psm1 .bat .cmd .vbs .py .pyw .js .mjs .cjs .ts .tsx
.jsx .rb .pl .pm .php .lua .tcl .r .jl .go .rs .c .cpp .java .jar .class .groovy .kts .scpt
.applescript .awk .exe .dll .so .dylib .wasm .whl .deb .rpm .msi .apk .desktop .ipynb
"""
SCRIPTS = frozenset(_SUFFIXES.split())
PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF-")

_FETCH = r"\b(?:curl|wget|fetch|aria2c|httpie|lynx|iwr|irm|invoke-(?:webrequest|restmethod))\b"
_SHELL = (
    r"(?:\S*/)?(?:(?:ba|z|da|k|fi|c|tc)?sh|python[\d.]*|perl|ruby|node|deno|bun|php|lua|pwsh"
    r"|powershell|iex|invoke-expression)\b"
)
_ON = r"\|\s*(?:sudo\s+(?:-\S+\s+)*|env\s+(?:\S+=\S*\s+)*|exec\s+|tee\s+\S+\s*\|\s*)*"
_URL = r"(?:https?|ftp|git\+\w+)://"

_LINES = tuple(
    (re.compile(pattern, re.IGNORECASE), why)
    for pattern, why in (
        (rf"{_FETCH}.*{_ON}{_SHELL}", "it fetches something and runs it"),
        (
            rf"(?:{_SHELL}|\beval|\bsource|(?:^|[\s;&`])\.)\s.*(?:<\(|\$\(|`)\s*{_FETCH}",
            "it fetches something and runs it",
        ),
        (rf"\b(?:iex|invoke-expression)\b.*{_FETCH}", "it fetches something and runs it"),
        (rf"\b(?:base64|openssl|xxd)\b.*{_ON}{_SHELL}", "it unpacks something and runs it"),
        (rf"{_FETCH}\s.*{_URL}", "it fetches something from the network"),
        (
            rf"\b(?:pip[\d.]*|pipx|uvx?|npm|npx|pnpm|yarn|gem|cargo|go|brew|apt|dnf)\b.*{_URL}",
            "it installs something from an address",
        ),
        (
            rf"\b(?:run|runs|execute|executes|install|installs|launch|eval|source|pipe)\b.*{_URL}"
            rf"|{_URL}.*\b(?:run|execute|install|launch|eval|source|pipe)\b",
            "it names an address and says to run or install something",
        ),
    )
)


def findings(held: Carried) -> tuple[Finding, ...]:
    """Everything that a person must have seen before the skill is used."""
    return tuple(each for name in sorted(held.files) for each in _of(name, held))


def _of(name: str, held: Carried) -> Iterator[Finding]:
    data, path = held.files[name], PurePosixPath(name)
    if path.suffix.lower() in SCRIPTS or "scripts" in path.parts[:-1] or data.startswith(b"#!"):
        yield Finding(name, "it is a script")
    elif name in held.executable:
        yield Finding(name, "it may be executed")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        if not data.startswith(PICTURES):
            yield Finding(name, "it is neither text nor a picture")
        return
    yield from _in_text(name, text)


def _in_text(name: str, text: str) -> Iterator[Finding]:
    if any(_invisible(each) for each in text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")):
        yield Finding(name, "it holds characters that cannot be seen")
    for line, said in _joined(text):
        why = next((why for pattern, why in _LINES if pattern.search(said)), None)
        if why:
            yield Finding(name, why, line)


def _invisible(character: str) -> bool:
    """Of no width or direction, or a control: a reader sees another text than a model does."""
    kind = unicodedata.category(character)
    return kind in ("Cf", "Co") or (kind == "Cc" and character not in "\n\r\t")


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines as a shell or a reader takes them: continued ones as one, in plain characters."""
    plain = "".join(each for each in unicodedata.normalize("NFKC", text) if not _invisible(each))
    start, said = 0, ""
    for number, row in enumerate(plain.splitlines(), 1):
        row = row.strip().lstrip("> ")
        if said and (said.endswith(("\\", "|", "&&")) or row.startswith(("|", "&&"))):
            said = f"{said.removesuffix(chr(92))} {row}"
            continue
        if said:
            yield start, said
        start, said = number, row
    if said:
        yield start, said
