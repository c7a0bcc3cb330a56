"""The contract of a tool: a typed function with a docstring; every public one in `tools/` is one.

    @tool(effect="once", approve="always")
    async def refund(call: Call, order: str, amount: float) -> str:
        '''Give money back.

        Args:
            order: the order's number, such as A-1001.
            amount: how much, in euros.
        '''

A parameter annotated `Call` is filled in by the daemon and never shown to the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from wakeful.host import Host
from wakeful.outbound import Address

Effect = Literal["read", "repeat", "once"]
Approve = Literal["never", "always"]
F = TypeVar("F", bound=Callable[..., Any])

MARK = "__wakeful_tool__"


@dataclass(frozen=True, slots=True)
class Traits:
    """What a tool says of itself. `once` is the default: an unknown tool may not be repeated."""

    effect: Effect = "once"
    approve: Approve = "never"
    egress: str = ""  # the argument that names the web address it reaches
    outside: bool = False  # what it returns was written by somebody outside

    @property
    def asks(self) -> bool:
        """May a call of it wait for a person?"""
        return self.approve == "always" or bool(self.egress)


def _anywhere(address: Address) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool, as the tool sees it."""

    idempotency_key: (
        str  # the same for every attempt at this call; hand it to servers that take one
    )
    thread_key: str
    event_seq: int
    principal: str
    address: str  # where the answer of this run goes
    untrusted: bool
    host: Host
    may_reach: Callable[[Address], bool] = _anywhere  # for redirects: may this call go there?


def tool(
    *,
    effect: Effect = "once",
    approve: Approve = "never",
    egress: str = "",
    outside: bool = False,
) -> Callable[[F], F]:
    """Say what a tool does to the world: read, repeat (doing it again is nothing) or once.

    `egress` names the argument that is a web address. `outside`: what the tool returns is text
    from outside; it is framed, and marks the conversation.
    """

    def mark(function: F) -> F:
        setattr(function, MARK, Traits(effect, approve, egress, outside))
        return function

    return mark


def traits(function: Callable[..., Any]) -> Traits:
    found = getattr(function, MARK, None)
    return found if isinstance(found, Traits) else Traits()
