"""Where a run may reach by itself, once text from outside is in its thread.

Outside text can ask for an address that carries words of the conversation away. So only hosts of
the settings and addresses that stand in the event itself are free; a person sees any other whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wakeful.agent.current import Run
from wakeful.agent.policy import digest_of
from wakeful.events import Event
from wakeful.outbound import Address, Hosts, parse, written_in
from wakeful.tool import Traits

Reach = Callable[[Address], bool]

TITLE = (
    "May I fetch {address} ({tool})? Text from outside is in this conversation, and an address "
    "can carry words away."
)
NOT_AVAILABLE = (
    'Not available: text from outside is in this conversation, "{host}" is not among the hosts of '
    "the settings, and this run has nobody to ask. Do not try it again; say in your answer that "
    '`hosts = ["{host}"]` under `[trust]` in agent.toml would allow it.'
)


@dataclass(frozen=True, slots=True)
class Gate:
    """What stands between a call and the address that it names."""

    address: Address
    free: bool  # it may go without asking
    reach: Reach  # where redirects may lead
    unattended: bool = False  # there is nobody who could be asked

    def title(self, tool: str) -> str:
        return TITLE.format(address=self.address, tool=tool)

    def refusal(self) -> str:
        return NOT_AVAILABLE.format(host=self.address.host)


def gate(run: Run, hosts: Hosts, traits: Traits, tool: str, args: dict[str, object]) -> Gate:
    """Read the address of a call. Raises Refused when it is none; then nobody is asked."""
    address = parse(str(args.get(traits.egress, "")))
    if _was_asked(run, tool, args):  # its answer counts, whatever the settings say by now
        return Gate(address, False, _near(address, hosts))
    if not run.untrusted or _is_written(address, run):
        return Gate(address, True, _anywhere)
    if address in hosts:
        return Gate(address, True, hosts.__contains__)
    return Gate(address, False, _near(address, hosts), unattended=not _attended(run.claim.event))


def _anywhere(address: Address) -> bool:
    return True


def _near(address: Address, hosts: Hosts) -> Reach:
    """What was approved is this host: a redirect to another one is another question."""
    return lambda other: other.host == address.host or other in hosts


def _is_written(address: Address, run: Run) -> bool:
    """Does it stand in the event, or in one that joined it, word for word?"""
    events = (run.claim.event, *(event for _, event in run.claim.merged))
    return any(address in written_in(event.text) for event in events)


def _was_asked(run: Run, tool: str, args: dict[str, object]) -> bool:
    digest = digest_of(tool, args)
    return any(decision.digest == digest for decision in run.claim.decisions.values())


def _attended(event: Event) -> bool:
    """A message has somebody who wrote it; a delivery or a firing is nobody's conversation."""
    return event.kind == "message"
