"""A program: standard input is a document, standard output is its text, as UTF-8.

It runs apart from the daemon, with little time and memory: whoever wrote the document may have
meant it to take both.
"""

from __future__ import annotations

import re
import resource
import sys
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urljoin

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

SECONDS = 15  # of computing
MEMORY = 1_500_000_000  # bytes
UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "form > input")
HIDDEN = "[hidden], [aria-hidden=true], [style*='display:none'], [style*='display: none']"
# Signs that nobody sees: controls, overrides of the direction, and letters for machines alone.
SIGNS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def main() -> None:
    kind, charset, address = sys.argv[1:4]
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    with suppress(ValueError, OSError):  # not every system can bound memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    body = sys.stdin.buffer.read()
    text = page(body, charset, address) if kind == "page" else plain(body, charset)
    text = SIGNS.sub("", text.replace("\r\n", "\n"))
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def plain(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset or "utf-8-sig", "replace")
    except (LookupError, UnicodeError):
        return body.decode("utf-8", "replace")


def page(body: bytes, charset: str, address: str) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(body, "html.parser", from_encoding=charset or None)
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    _clear(soup, address)
    found = soup.find("main") or soup.body or soup
    try:
        text = MarkdownConverter(heading_style="ATX", bullets="-", strip=["img"]).convert_soup(
            found
        )
    except RecursionError:  # nested by the thousand
        text = found.get_text("\n", strip=True)
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return f"Title: {title}\n\n{text}" if title else text


def _clear(soup: BeautifulSoup, address: str) -> None:
    """Take out what a reader would not see, and make links whole."""
    for tag in soup.select(", ".join(UNSEEN)) + soup.select(HIDDEN):
        tag.decompose()
    for link in soup.find_all("a", href=True):
        try:
            whole = urljoin(address, str(link["href"]))
        except ValueError:
            whole = ""
        if whole.startswith(("http://", "https://")):
            link["href"] = whole
        else:
            del link["href"]


if __name__ == "__main__":
    main()
