"""Keep a fact beyond this conversation."""

from __future__ import annotations

from wakeful.errors import Refused
from wakeful.tool import Call, tool

LONGEST = 1_000  # characters; memory stands in front of every conversation


# The store takes a key once, so a second attempt at this call adds nothing.
@tool(effect="repeat")
async def remember(call: Call, text: str) -> str:
    """Remember something about the person you talk to, in all their later conversations.

    Use it when they ask you to, and for facts that stay useful: preferences, names, how they want
    things done. Not for what only matters today, not for what stands in a file, and never for
    passwords or other secrets.

    Args:
        text: one fact in one sentence that is understandable without this conversation.
    """
    fact = " ".join(text.split())
    if not fact:
        raise Refused("the text is empty; write the fact")
    if len(fact) > LONGEST:
        raise Refused(f"the fact has {len(fact)} characters; {LONGEST} fit, say it shorter")
    await call.host.remember(
        call.principal, fact, key=call.idempotency_key, event_seq=call.event_seq
    )
    return "Remembered."
