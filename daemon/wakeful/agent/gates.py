"""Whether a call waits for a person, who that is, and whether anybody can be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from wakeful.config import Approvals, Gate, milliseconds
from wakeful.events import Event, WaitRequest
from wakeful.plugs import Snapshot
from wakeful.tool import Approve, Rule, Traits

UNATTENDED = ("delivery", "firing")  # nobody sits before these
STRICTNESS: Mapping[Rule, int] = {"never": 0, "once": 1, "always": 2}


@dataclass(frozen=True, slots=True)
class People:
    """Who decides, and where they are asked; empty: the requester, where the answer goes."""

    approvers: tuple[str, ...]
    route: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gates:
    """The policies of all tools, and `[approvals]` as it stands now."""

    snapshot: Callable[[], Snapshot]

    def may_ask(self, tool: str, traits: Traits, source: str) -> bool:
        """Whether any call of it could wait for a person."""
        return any(rule != "never" for rule in self._rules(tool, traits, source))

    async def rule(
        self, tool: str, traits: Traits, source: str, args: Mapping[str, object]
    ) -> Rule:
        """The strictest of what the tool and the channel say of this call."""
        rules = self._rules(tool, traits, source)
        said: list[Rule] = [await _asked(rule, args) if callable(rule) else rule for rule in rules]
        return max(said, key=lambda rule: STRICTNESS[rule])

    def _rules(self, tool: str, traits: Traits, source: str) -> tuple[Approve, ...]:
        """A tool's own word or that of the settings; a channel only adds to it."""
        approvals = self._approvals
        own = approvals.tools.get(tool, Gate()).approve or traits.approve
        channel = approvals.channels.get(source, Gate()).approve
        return (own, channel) if channel and traits.effect == "once" else (own,)

    def gated(self, traits: Mapping[str, Traits]) -> frozenset[str]:
        """Every tool that may ask, wherever the run comes from."""
        sources = ("", *self._approvals.channels)
        return frozenset(
            name
            for name, of in traits.items()
            if any(self.may_ask(name, of, source) for source in sources)
        )

    def people(self, event: Event, tool: str) -> People:
        approvals = self._approvals
        gates = (
            approvals.tools.get(tool, Gate()),
            approvals.channels.get(event.source, Gate()),
            Gate(approvers=approvals.approvers, route=approvals.route)
            if event.kind in UNATTENDED
            else Gate(),
        )
        return People(
            approvers=_first(gate.approvers for gate in gates),
            route=_first(gate.route for gate in gates),
        )

    def reachable(self, event: Event, tool: str) -> bool:
        """Whether anybody would see the question; the operator does when nobody else is named."""
        people, channels = self.people(event, tool), self.snapshot().channels
        if event.kind not in UNATTENDED or not people.approvers:
            return True
        return any(one.partition(":")[0] in channels for one in (*people.route, *people.approvers))

    def addressed(self, request: WaitRequest, event: Event, now: int) -> WaitRequest:
        """The question with its people and its times."""
        people, approvals = self.people(event, request.tool), self._approvals
        return replace(
            request,
            approvers=people.approvers,
            route=people.route,
            escalate_to=approvals.escalate_to,
            remind_at=_after(now, approvals.remind),
            escalate_at=_after(now, approvals.escalate) if approvals.escalate_to else None,
            expires_at=_after(now, approvals.expire),
        )

    @property
    def _approvals(self) -> Approvals:
        return self.snapshot().settings.approvals


def _after(now: int, span: str) -> int | None:
    ms = milliseconds(span)
    return None if ms is None else now + ms


def _first(found: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return next((each for each in found if each), ())


async def _asked(
    predicate: Callable[[Mapping[str, object]], bool], args: Mapping[str, object]
) -> Rule:
    """What a function of the folder says; one that fails has not said that nobody need be asked."""
    try:
        said = await asyncio.to_thread(predicate, dict(args))
    except Exception:
        return "always"
    return "never" if said is False else "always"
