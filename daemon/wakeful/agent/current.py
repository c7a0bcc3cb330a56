"""The run that the current task works for; graph nodes, tools and sub-agents inherit it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from wakeful.agent.hiding import Hide, nothing
from wakeful.errors import LeaseLost
from wakeful.events import Claim, Step, Update
from wakeful.host import Clock
from wakeful.tool import Call

Emit = Callable[[Update], None]


@dataclass(slots=True)
class Run:
    """One attempt at one event, as the middleware sees it."""

    claim: Claim
    clock: Clock
    emit: Emit | None = None
    hide: Hide = nothing  # takes secrets out of a text
    spent: int = 0  # model and tool calls so far, those of sub-agents included
    steps: list[Step] = field(default_factory=list)
    cold: bool = False  # the thread was read from the store, not from memory
    memory: tuple[str, ...] = ()  # what was remembered for this principal
    untrusted: bool = False  # outside text is in the thread, or came in with this run

    def __post_init__(self) -> None:
        events = (self.claim.event, *(event for _, event in self.claim.merged))
        self.untrusted = self.claim.untrusted or any(event.untrusted for event in events)

    def check_lease(self) -> None:
        """A worker past its deadline starts and writes nothing: the thread may be another's now."""
        if self.clock.boot() > self.claim.lease.until:
            raise LeaseLost

    def tell(self, update: Update) -> None:
        if self.emit is not None:
            self.emit(update)


run_: ContextVar[Run | None] = ContextVar("wakeful_run", default=None)
call_: ContextVar[Call | None] = ContextVar("wakeful_call", default=None)


def current() -> Run:
    run = run_.get()
    if run is None:
        raise RuntimeError("no run is going on here")
    return run
