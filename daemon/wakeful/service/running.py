"""`wakeful run`: a daemon from its start to its signal."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wakeful import config
from wakeful.secrets import Secrets, open_secrets
from wakeful.service.leaving import LINGER, leave_within
from wakeful.service.logs import start_logging
from wakeful.service.loop import Loop
from wakeful.service.machine import private_folder, settle
from wakeful.service.opening import open_service

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run_service(path: Path, overrides: Mapping[str, Any] | None = None) -> int:
    """Run the daemon until SIGTERM or SIGINT; returns the exit code, or raises why it cannot."""
    try:
        with asyncio.Runner(loop_factory=Loop) as runner:
            return runner.run(_run(path.resolve(), overrides))
    except KeyboardInterrupt:  # a second Ctrl-C: the rest resumes after the restart
        return 130


async def _run(path: Path, overrides: Mapping[str, Any] | None) -> int:
    stopping = _listen_for_signals()
    settings = config.load(path, overrides)
    secrets = open_secrets(path, settings.secrets)
    stop_logging = start_logging(private_folder(path), known=lambda: secrets.known)
    awake = asyncio.Event()
    serving = asyncio.create_task(_serve(path, overrides, secrets, awake, stopping))
    stop = asyncio.create_task(stopping.wait())
    code = 1
    try:
        await asyncio.wait({serving, stop}, return_when=asyncio.FIRST_COMPLETED)
        if stopping.is_set() and not awake.is_set():
            serving.cancel()  # told to stop while it was still waking up
        await asyncio.wait({serving})
        code = 0 if serving.cancelled() else serving.result()
        return code
    finally:
        stop.cancel()
        stop_logging()
        if awake.is_set() or stopping.is_set():
            leave_within(LINGER, code)


async def _serve(
    path: Path,
    overrides: Mapping[str, Any] | None,
    secrets: Secrets,
    awake: asyncio.Event,
    stopping: asyncio.Event,
) -> int:
    async with open_service(path, overrides, secrets=secrets) as service:
        settle()
        awake.set()
        print(f"Wakeful is awake at {service.url}", flush=True)
        if sys.stdout.isatty():
            print(f"Sign in at {service.url}/login with the code {service.new_code()}", flush=True)
        await stopping.wait()
        log.info("Going to sleep: the port closes, running steps end.", extra={"action": "stop"})
    return 0


def _listen_for_signals() -> asyncio.Event:
    """Set at the first signal; the second one ends the process at once, as people expect."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def first(number: signal.Signals) -> None:
        stopping.set()
        for each in SIGNALS:
            loop.remove_signal_handler(each)

    for number in SIGNALS:
        loop.add_signal_handler(number, first, number)
    return stopping
