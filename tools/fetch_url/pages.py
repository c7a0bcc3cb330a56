"""From a document to text: outside words are taken apart in a process of their own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wakeful.errors import Refused

if TYPE_CHECKING:
    from wakeful.outbound.fetch import Document

PATIENCE = 20.0  # seconds for one document
READER = Path(__file__).with_name("reader.py")
PAGES = ("text/html", "application/xhtml+xml")
TEXTS = (
    *("application/json", "application/xml", "application/yaml", "application/x-yaml"),
    *("application/toml", "application/javascript", "application/x-ndjson", "application/sql"),
)
SNIFFED = 1_024  # bytes that are looked at when nothing says what a document is

BINARY = "the document looks like a program, an image or the like, and not like text"
UNREADABLE = "the document cannot be read: it is too deep, too large or broken on purpose"


def is_text(media_type: str) -> bool:
    """Is a document of this type read? One that says nothing of itself is looked at first."""
    return (
        not media_type
        or media_type.startswith("text/")
        or media_type in (*PAGES, *TEXTS)
        or media_type.endswith(("+json", "+xml", "+yaml"))
    )


async def text_of(document: Document) -> str:
    """A page as Markdown, anything else as it is. Raises Refused when that cannot be had."""
    head = document.body[:SNIFFED]
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused(BINARY)
    page = document.media_type in PAGES or (
        not document.media_type and head.lstrip().startswith(b"<")
    )
    how = ("page" if page else "text", document.charset, str(document.address))
    return (await _apart(how, document.body)).decode("utf-8", "replace").strip()


async def _apart(how: tuple[str, ...], body: bytes) -> bytes:
    """The reader cannot hold up, fill or see anything of the daemon; it is killed when it hangs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", str(READER), *how),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
    )
    try:
        async with asyncio.timeout(PATIENCE):
            read, _ = await process.communicate(body)
    except TimeoutError:
        raise Refused(UNREADABLE) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Refused(UNREADABLE)
    return read
