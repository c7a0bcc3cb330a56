"""`wakeful demo`, as people start it."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from wakeful.plugs import check
from wakeful.rehearsal import demo
from wakeful.rehearsal.acts import SECRET, Stage, Unconvinced, believe
from wakeful.rehearsal.reading import read
from wakeful.service import open_service

ACTS = ("chat", "schedule", "webhook")
PATIENCE = 150.0  # seconds, on a busy machine
FOLDER = Path(demo.__file__).with_name(demo.TEMPLATE)


@asynccontextmanager
async def started(*options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "wakeful", "demo", *options),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def until(process: asyncio.subprocess.Process, pattern: str) -> re.Match[str]:
    """Read the output up to a line."""
    assert process.stdout is not None
    read: list[str] = []
    async for raw in process.stdout:
        read.append(raw.decode())
        if found := re.search(pattern, read[-1]):
            return found
    raise AssertionError(f"no line like {pattern} in:\n{''.join(read)}")


async def test_once_shows_all_three_and_ends() -> None:
    async with started("--once") as process:
        told, _ = await process.communicate()
    lines = told.decode().splitlines()
    assert [line for line in lines if line.endswith(" ok")] == [f"{act} ok" for act in ACTS], lines
    assert process.returncode == 0


async def test_without_once_it_stays_up_and_lets_a_browser_in() -> None:
    async with started() as process:
        page = (await until(process, r"The page: (http\S+)/login"))[1]
        code = (await until(process, r"one-time code.*: (\S+)"))[1]
        async with httpx.AsyncClient(base_url=page, trust_env=False) as browser:
            assert (await browser.get("/api/threads")).status_code == 401
            form = {"origin": page}
            entered = await browser.post("/login", data={"code": code}, headers=form)
            assert entered.status_code in (302, 303)
            shown = await browser.get("/")
            assert shown.status_code == 200
            threads = (await browser.get("/api/threads")).json()["threads"]
        keys = {row["key"] for row in threads}
        assert {"console/demo", "console/reports", "webhook/github/pull/42"} <= keys
        process.send_signal(signal.SIGINT)
        await process.wait()
    assert process.returncode == 0


async def test_ctrl_c_ends_it_in_the_middle_and_leaves_nothing_behind() -> None:
    async with started("--once") as process:
        folder = Path((await until(process, r"An agent of .* in (\S+)"))[1])
        await until(process, r"you> Where")
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert process.returncode == demo.INTERRUPTED
    assert not await asyncio.to_thread(folder.parent.exists)


def test_an_act_that_was_not_seen_is_not_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unseen(stage: Stage) -> None:
        believe(False, "nothing came")

    monkeypatch.setattr(demo, "ACTS", {"chat": unseen})
    told: list[str] = []
    assert demo.run_demo(open_service, once=True, echo=told.append) == 1
    assert "chat failed: nothing came" in told
    assert "chat ok" not in told


def test_believing_needs_seeing() -> None:
    believe(True, "fine")
    with pytest.raises(Unconvinced, match="gone"):
        believe(False, "gone")


def test_the_folder_of_the_demo_has_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, "s" * 32)
    assert [fault for fault in check(FOLDER) if not fault.warning] == []
    assert read(FOLDER / "rehearsal.toml").agents == {"main", "researcher"}
