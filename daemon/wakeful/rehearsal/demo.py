"""`wakeful demo`: the main job, shown on a real daemon in a folder of its own.

The daemon runs in this process; everything is asked of it over HTTP, as others would ask it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Protocol

import httpx

from wakeful.rehearsal.acts import ACTS, SECRET, Stage, Unconvinced
from wakeful.web.auth import read_token

TEMPLATE = "demo_agent"
ACT_SECONDS = 90.0
INTERRUPTED = 130  # exit code
QUIET_SCHEDULE = ("every: 5s", "every: 1h")  # once it was shown

Echo = Callable[[str], None]


class Running(Protocol):
    """What the demo needs of a daemon that runs."""

    @property
    def url(self) -> str: ...
    def new_code(self) -> str: ...


Open = Callable[[Path], AbstractAsyncContextManager[Running]]


def run_demo(open_service: Open, *, once: bool, echo: Echo | None = None) -> int:
    """Show the three acts; 0 when all of them really happened. Without `once`, stay up.

    The daemon is handed in: it stands on a floor above.
    """
    return asyncio.run(_run(open_service, once, echo or _print))


async def _run(open_service: Open, once: bool, echo: Echo) -> int:
    stop = _stopping()
    with tempfile.TemporaryDirectory(prefix="wakeful-demo-") as temporary:
        folder = Path(temporary) / "tea-shop"
        with as_file(files("wakeful.rehearsal").joinpath(TEMPLATE)) as template:
            shutil.copytree(template, folder, ignore=shutil.ignore_patterns("__pycache__"))
        os.environ[SECRET] = secrets.token_hex(16)
        echo(f"An agent of a small tea shop, in {folder}")
        async with open_service(folder) as service:
            failed = await _unless(stop, _show(service, folder, echo))
            if failed is None:
                return INTERRUPTED
            if not once:
                await _stay_up(service, folder, stop, echo)
    return 1 if failed else 0


async def _unless(stop: asyncio.Event, show: Coroutine[None, None, int]) -> int | None:
    """The result of the show; none when it was stopped before its end."""
    showing, stopped = asyncio.create_task(show), asyncio.create_task(stop.wait())
    await asyncio.wait({showing, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if showing.done():
        return showing.result()
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)
    return None


async def _show(service: Running, folder: Path, echo: Echo) -> int:
    """Play every act, and count those that did not come off."""
    failed = 0
    headers = {"Authorization": f"Bearer {read_token(folder / '.wakeful' / 'token')}"}
    async with httpx.AsyncClient(
        base_url=service.url, headers=headers, trust_env=False, timeout=30
    ) as client:
        stage = Stage(client, echo)
        for name, act in ACTS.items():
            echo("")
            try:
                async with asyncio.timeout(ACT_SECONDS):
                    await act(stage)
            except TimeoutError:
                failed += 1
                echo(f"{name} failed: it took more than {ACT_SECONDS:g} seconds")
            except (Unconvinced, httpx.HTTPError) as error:
                failed += 1
                echo(f"{name} failed: {error or type(error).__name__}")
            else:
                echo(f"{name} ok")
    return failed


async def _stay_up(service: Running, folder: Path, stop: asyncio.Event, echo: Echo) -> None:
    await asyncio.to_thread(_calm, folder / "schedules" / "daily-numbers.md")
    echo("")
    echo(f"The page: {service.url}/login")
    echo(f"Its one-time code, good for a minute: {service.new_code()}")
    loop = asyncio.get_running_loop()
    keys = sys.stdin if sys.stdin is not None and sys.stdin.isatty() else None
    if keys:
        echo("Press Enter for another code, Ctrl-C to end.")
        loop.add_reader(keys.fileno(), lambda: _another(service, stop, echo))
    try:
        await stop.wait()
    finally:
        if keys:
            loop.remove_reader(keys.fileno())


def _another(service: Running, stop: asyncio.Event, echo: Echo) -> None:
    if sys.stdin.readline():
        echo(f"Another code: {service.new_code()}")
    else:
        stop.set()  # Ctrl-D


def _calm(schedule: Path) -> None:
    """A report every five seconds has made its point; the running daemon takes the edit up."""
    schedule.write_text(schedule.read_text("utf-8").replace(*QUIET_SCHEDULE), "utf-8")


def _stopping() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return stop


def _print(line: str) -> None:
    print(line, flush=True)
