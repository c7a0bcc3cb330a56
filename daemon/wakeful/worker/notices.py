"""The sentences that people read when a run did not end in an answer."""

from __future__ import annotations

from dataclasses import replace

from wakeful.events import Claim, Done, Outgoing
from wakeful.redact import redact

TEXT_LIMIT = 600  # characters of an error that a notice shows


def _short(error: str) -> str:
    line = " ".join(redact(error).split())
    return line if len(line) <= TEXT_LIMIT else line[: TEXT_LIMIT - 1] + "…"


def dead(seq: int, error: str) -> str:
    return (
        f"I could not finish this (event {seq}): {_short(error)} "
        f"Nothing more will happen by itself; `wakeful replay {seq}` tries it once more."
    )


def crashed(crashes: int) -> str:
    times = "once" if crashes == 1 else f"{crashes} times"
    return f"The daemon died {times} while it worked on this, so it was given up."


def too_long(seconds: float) -> str:
    whole = int(seconds) if seconds == int(seconds) else seconds
    unit = "second" if whole == 1 else "seconds"
    return f"It took longer than {whole} {unit} ([limits] seconds), so it was cancelled."


def stopped() -> str:
    return "Stopped, as you asked. What was done before that stays done."


EMPTY = "The run ended without an answer. Ask again, or in other words."


def address_of(claim: Claim, alerts: tuple[str, ...]) -> str:
    """Where a notice about this event goes; empty: nowhere."""
    return claim.event.address or next(iter(alerts), "")


def notice(claim: Claim, text: str, alerts: tuple[str, ...]) -> Outgoing | None:
    address = address_of(claim, alerts)
    if not address:
        return None
    return Outgoing(ordinal="notice", address=address, text=text, kind="notice")


def answered(claim: Claim, done: Done, alerts: tuple[str, ...]) -> Done:
    """The same end, with a notice in it if nobody would hear anything otherwise."""
    spoke = any(m.role == "assistant" and m.text.strip() for m in done.messages)
    if done.replies or done.silent or (spoke and not claim.event.address):
        return done
    said = notice(claim, EMPTY, alerts)
    return replace(done, replies=(said,)) if said else replace(done, silent="empty answer")
