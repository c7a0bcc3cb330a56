"""Write to somewhere else than where the answer of this run goes."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from wakeful.errors import Refused
from wakeful.events import Outgoing
from wakeful.tool import Call, tool

LONGEST = 40_000  # characters; a longer text belongs into a file


# The outbox takes an ordinal once per event, so a second attempt at this call queues nothing new.
@tool(effect="repeat")
async def send(call: Call, to: str, text: str) -> str:
    """Send a message to another address, now. Use it for somebody who is not in this conversation.

    Your final answer reaches this conversation by itself: never send that too. The message is
    queued and delivered in order; you will be told later if it could not be delivered.

    Args:
        to: the address, channel and place with a colon between, such as "console:reports".
        text: the whole message as Markdown, understandable without this conversation.
    """
    address, body = to.strip(), text.strip()
    _check_address(address, call.host.addresses())
    if not body:
        raise Refused("the text is empty; write what to say")
    if len(body) > LONGEST:
        raise Refused(f"the text has {len(body)} characters; {LONGEST} fit, send a shorter one")
    message = Outgoing(
        ordinal=f"send/{call.idempotency_key}", address=address, text=body, kind="message"
    )
    new = await call.host.send(message, event_seq=call.event_seq)
    return f"Queued for {address}." if new else f"This message to {address} is queued already."


def _check_address(address: str, known: Sequence[str]) -> None:
    channel, _, where = address.partition(":")
    if channel in known and where:
        return
    if channel in known:
        raise Refused(f'"{address}" names no place; write for example "{channel}:reports"')
    near = get_close_matches(channel, known, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(known) or 'none'}"
    raise Refused(f'there is no channel "{channel}"; {hint}')
