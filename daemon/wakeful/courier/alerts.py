"""What is said elsewhere about a channel that fails, and about a reply that it did not deliver."""

from __future__ import annotations

from collections.abc import Sequence

from wakeful.events import Outgoing, Reply

PREFIX = "alert/"
QUOTE = 200  # characters of the lost reply


def alert(reply: Reply, error: str, routes: Sequence[str]) -> Outgoing | None:
    """A notice by the next route that avoids the channel that failed; None when none is left."""
    text, skip = _sentence(reply, error), _tried(reply)
    return _elsewhere(reply.channel, routes, root=_root(reply), text=text, skip=skip)


def alarm(channel: str, text: str, routes: Sequence[str]) -> Outgoing | None:
    """The same for a channel that does not work at all."""
    return _elsewhere(channel, routes, root=channel, text=text)


def _elsewhere(
    failed: str, routes: Sequence[str], *, root: str, text: str, skip: int = 0
) -> Outgoing | None:
    for place, address in enumerate(routes):
        if place >= skip and address.partition(":")[0] != failed:
            ordinal = f"{PREFIX}{root}/{place}"
            return Outgoing(ordinal=ordinal, address=address, text=text, kind="notice")
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
