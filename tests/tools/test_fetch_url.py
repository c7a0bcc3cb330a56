from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.outbound.site import Site, answer, onward, site
from tests.tools.desk import load
from wakeful.errors import Refused
from wakeful.tool import Call

PAGE = b"""<!doctype html><html><head><title>A  page</title><style>p{}</style></head><body>
<nav>Home</nav><main><h1>Heading</h1><p>Some <b>bold</b> words and <a href="/more?x=1">a link</a>,
<a href="javascript:alert(1)">no link</a>.</p><ul><li>one</li><li>two</li></ul>
<script>alert("never")</script><p hidden>for machines only</p><!-- nor this -->
<pre>code  kept</pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="http://track.example/x.png" alt="x"></main></body></html>"""


@asynccontextmanager
async def tool_at(folder: Path) -> AsyncIterator[tuple[Site, Callable[..., Any]]]:
    """Our tool, with one server for the whole world."""
    with pytest.MonkeyPatch.context() as patch:
        async with _tool_at(folder, patch) as both:
            yield both


@asynccontextmanager
async def _tool_at(
    folder: Path, patch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Site, Callable[..., Any]]]:
    fetch_url = load(folder, "fetch_url")
    call = Call(
        idempotency_key="k",
        thread_key="console/a",
        event_seq=1,
        principal="console:operator",
        address="console:a",
        untrusted=False,
        host=None,  # type: ignore[arg-type]
    )
    async with site() as at:
        patch.setitem(fetch_url.__globals__, "_fetcher", at.fetcher)

        async def fetch(url: str, start: int = 0, **more: Any) -> str:
            said: str = await fetch_url(call=replace(call, **more), url=url, start=start)
            return said

        yield at, fetch


async def test_a_page_comes_as_markdown(tmp_path: Path) -> None:
    async with tool_at(tmp_path) as (at, fetch):
        at.answers["/p"] = answer(PAGE, kind="text/html")
        said = await fetch(at.url("/p"))
        assert said.startswith(f"{at.url('/p')}\n\nTitle: A page\n\n# Heading")
        assert "Some **bold** words" in said
        assert f"[a link]({at.url('/more?x=1')})" in said
        assert "- one" in said and "code  kept" in said and "| 1 | 2 |" in said
        for gone in ("never", "machines", "nor this", "track.example", "javascript", "Home"):
            assert gone not in said


async def test_a_text_comes_as_it_is_in_its_own_letters(tmp_path: Path) -> None:
    async with tool_at(tmp_path) as (at, fetch):
        at.answers["/j"] = answer(b'{"a": "<b>"}', kind="application/json")
        at.answers["/l"] = answer("Grüße".encode("latin-1"), kind="text/plain; charset=latin-1")
        at.answers["/x"] = answer(b"words\xff", kind="text/plain; charset=punycod")
        at.answers["/h"] = answer("<p>你好</p>".encode("gb2312"), kind="text/html; charset=gb2312")
        at.answers["/s"] = answer("a\u202eb\x1b[2Jc\U000e0041".encode(), kind="text/markdown")
        assert '{"a": "<b>"}' in await fetch(at.url("/j"))
        assert "Grüße" in await fetch(at.url("/l"))
        assert "words\ufffd" in await fetch(at.url("/x"))
        assert "你好" in await fetch(at.url("/h"))
        assert (await fetch(at.url("/s"))).endswith("ab[2Jc")


async def test_a_long_page_is_read_in_parts(tmp_path: Path) -> None:
    async with tool_at(tmp_path) as (at, fetch):
        at.answers["/"] = answer(b"a" * 40_000 + b"b" * 5)
        first = await fetch(at.url("/"))
        assert first.endswith(" 0 to 40000 of 40005; read on with start=40000.)")
        assert (await fetch(at.url("/"), 40_000)).endswith("\n\nbbbbb")
        for start in (-1, 40_005):
            with pytest.raises(Refused, match="has 40005 characters"):
                await fetch(at.url("/"), start)


async def test_a_page_without_words_says_so(tmp_path: Path) -> None:
    async with tool_at(tmp_path) as (at, fetch):
        at.answers["/"] = answer(b"<script>render()</script>", kind="text/html")
        assert "There is no text on it" in await fetch(at.url("/"))


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/octet-stream"])
async def test_what_is_no_text_is_refused_with_a_sentence(tmp_path: Path, kind: str) -> None:
    async with tool_at(tmp_path) as (at, fetch):
        at.answers["/"] = answer(b"\x89PNG\0", kind=kind)
        with pytest.raises(Refused, match=f"{kind}, which is no text"):
            await fetch(at.url("/"))


async def test_a_program_that_calls_itself_text_is_refused(tmp_path: Path) -> None:
    async with tool_at(tmp_path) as (at, fetch):
        at.answers["/"] = answer(b"\x7fELF\0\0")
        with pytest.raises(Refused, match="looks like a program"):
            await fetch(at.url("/"))


async def test_a_redirect_that_was_not_followed_is_told(tmp_path: Path) -> None:
    async with tool_at(tmp_path) as (at, fetch):
        to = at.url("/there", "other.example")
        at.answers["/"] = onward(to)
        said = await fetch(at.url("/"), may_reach=lambda address: False)
        assert to in said and "not followed" in said
        assert len(at.asked) == 1


async def test_a_page_that_is_nested_without_end_is_read_or_refused_in_time(tmp_path: Path) -> None:
    """It neither ends the daemon nor holds it up."""
    async with tool_at(tmp_path) as (at, fetch):
        at.answers["/"] = answer(b"<div>" * 20_000 + b"deep", kind="text/html")
        began = time.monotonic()
        assert "deep" in await fetch(at.url("/"))
        assert time.monotonic() - began < 30


async def test_a_reader_that_hangs_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tool_at(tmp_path) as (at, _):
        at.answers["/"] = answer(b"<p>x</p>", kind="text/html")
        pages = load(tmp_path, "fetch_url").__globals__["pages"]
        program = tmp_path / "hangs.py"
        program.write_text("import time\ntime.sleep(600)\n")
        monkeypatch.setattr(pages, "READER", program)
        monkeypatch.setattr(pages, "PATIENCE", 0.3)
        with pytest.raises(Refused, match="too deep, too large or broken"):
            await pages.text_of(await at.fetcher().get(at.url("/")))
