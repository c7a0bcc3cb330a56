"""End a run in silence, with a reason that is kept."""

from __future__ import annotations

from wakeful.tool import Call, tool

NOTHING_SAID = "no reason given"


@tool(effect="read")
async def no_reply(call: Call, reason: str) -> str:
    """End here without an answer. Nobody is written to; the reason is kept and can be looked up.

    Use it when an answer would only disturb: nothing to report, a delivery that needs no action,
    a message that was not for you. Never use it to leave a question unanswered, and never when
    something went wrong.

    Args:
        reason: why silence is right, in one sentence.
    """
    return " ".join(reason.split()) or NOTHING_SAID
