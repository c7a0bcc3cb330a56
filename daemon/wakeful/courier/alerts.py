"""What is said elsewhere about a reply that could not be delivered."""

from __future__ import annotations

from collections.abc import Sequence

from wakeful.events import Outgoing, Reply

PREFIX = "alert/"
QUOTE = 200  # characters of the lost reply


def alert(reply: Reply, error: str, routes: Sequence[str]) -> Outgoing | None:
    """A notice by the next route that avoids the channel that failed; None when none is left."""
    tried = _tried(reply)
    for place, address in enumerate(routes):
        if place >= tried and address.partition(":")[0] != reply.channel:
            return Outgoing(
                ordinal=f"{PREFIX}{_root(reply)}/{place}",
                address=address,
                text=_sentence(reply, error),
                kind="notice",
            )
    return None


def _tried(reply: Reply) -> int:
    """How many routes are used up, when the lost reply is itself an alert."""
    if not reply.ordinal.startswith(PREFIX):
        return 0
    return int(reply.ordinal.rpartition("/")[2]) + 1


def _root(reply: Reply) -> str:
    if reply.ordinal.startswith(PREFIX):
        return reply.ordinal.removeprefix(PREFIX).rpartition("/")[0]
    return str(reply.id)


def _sentence(reply: Reply, error: str) -> str:
    if reply.ordinal.startswith(PREFIX):
        return reply.text
    text = " ".join(reply.text.split())
    quote = text if len(text) <= QUOTE else text[: QUOTE - 1] + "…"
    return (
        f"A reply to {reply.address} (event {reply.event_seq}) could not be delivered: {error} "
        f"It said: {quote}"
    )
