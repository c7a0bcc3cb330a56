"""The contract of a schedule.

`schedules/<name>.md`: front matter (one of `cron:`, `every:`, `at:`; `timezone`, `deliver`,
`thread`, `catch_up`), the body is the prompt. `schedules/<name>.py`: `CRON` (or `EVERY`, `AT`),
optionally `TIMEZONE`, `DELIVER` and `CATCH_UP`, and `async def run(host)`, which runs without the
agent: the text that it returns is delivered and recorded, None is a recorded silence.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from wakeful.host import Host

CatchUp = Literal["skip", "once", "all"]
ThreadMode = Literal["continue", "fresh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One schedule, parsed. Exactly one of cron, every and at is set."""

    name: str
    cron: str = ""
    every: float | None = None  # seconds
    at: int | None = None  # ms UTC
    timezone: str = "UTC"  # IANA name
    deliver: str = ""  # address; empty: kept in its thread only
    thread: ThreadMode = "continue"
    catch_up: CatchUp = "once"
    prompt: str = ""
    run: Callable[[Host], Awaitable[str | None]] | None = None  # .py schedules: not the agent
    file: str = ""
    digest: str = ""  # of what says when it fires; with another digest it starts anew from now
