"""Names in one file that must stand for something in another."""

from __future__ import annotations

from collections.abc import Iterator

from wakeful.config import FILE, Gate, unknown
from wakeful.events import Fault
from wakeful.plugs.tools import TAKEN
from wakeful.plugs.values import Snapshot

SCHEDULE, WEBHOOK = "schedule", "webhook"
NOBODY = (
    "a hook or a schedule may have to ask before a tool runs, and only the page and "
    "`wakeful waits` will show it; name a place in [approvals] route"
)


def crosscheck(snapshot: Snapshot) -> Iterator[Fault]:
    yield from _subagent_tools(snapshot)
    yield from _deliveries(snapshot)
    yield from _approvals(snapshot)


def _subagent_tools(snapshot: Snapshot) -> Iterator[Fault]:
    known = {*(plug.name for plug in snapshot.tools), *TAKEN} - {"task"}
    for spec in snapshot.subagents:
        for name in spec.tools or ():
            if name == "task":
                message = 'a subagent cannot have "task": it starts no others'
                yield Fault(file=spec.file, key="tools", message=message)
            elif name not in known:
                yield Fault(file=spec.file, key="tools", message=unknown("tool", name, known))


def _deliveries(snapshot: Snapshot) -> Iterator[Fault]:
    for rule in snapshot.schedules:
        if wrong := _wrong_channel(rule.deliver, snapshot):
            yield Fault(file=rule.file, key="deliver", message=wrong)
    for plug in snapshot.channels.values():
        if wrong := _wrong_channel(plug.settings.get("deliver"), snapshot):
            line = plug.lines.get(("deliver",))
            yield Fault(file=plug.file, line=line, key="deliver", message=wrong)


def _approvals(snapshot: Snapshot) -> Iterator[Fault]:
    """A gate that names nothing guards nothing, and a question that nobody sees waits for long."""
    approvals = snapshot.settings.approvals
    tools = {*(plug.name for plug in snapshot.tools), *TAKEN}
    for name in approvals.tools.keys() - tools:
        yield _of_settings(f"approvals.tools.{name}", unknown("tool", name, tools))
    sources = {*snapshot.channels, SCHEDULE}
    for name in approvals.channels.keys() - sources:
        yield _of_settings(f"approvals.channels.{name}", unknown("channel", name, sources))
    gates = {"approvals": approvals.route, "approvals.escalate_to": approvals.escalate_to}
    gates |= {f"approvals.tools.{name}": gate.route for name, gate in approvals.tools.items()}
    gates |= {f"approvals.channels.{name}": gate.route for name, gate in approvals.channels.items()}
    for key, route in gates.items():
        for address in route:
            if wrong := _wrong_channel(address, snapshot):
                yield _of_settings(key, wrong)
    if _asks_nobody(snapshot):
        yield Fault(file=FILE, key="approvals", message=NOBODY, warning=True)


def _asks_nobody(snapshot: Snapshot) -> bool:
    """Whether a hook or a schedule may stop at a question that is shown to nobody."""
    approvals = snapshot.settings.approvals
    if approvals.route or approvals.approvers:
        return False
    alone = any(rule.prompt for rule in snapshot.schedules) or any(
        plug.use == WEBHOOK for plug in snapshot.channels.values()
    )
    return alone and any(
        (approvals.tools.get(plug.name, Gate()).approve or plug.traits.approve) != "never"
        for plug in snapshot.tools
    )


def _of_settings(key: str, message: str) -> Fault:
    return Fault(file=FILE, key=key, message=message)


def _wrong_channel(address: object, snapshot: Snapshot) -> str | None:
    """What is wrong with the channel of an address; a template is known only when it is filled."""
    if not isinstance(address, str) or not address or "{{" in address:
        return None
    channel = address.partition(":")[0]
    known = snapshot.channels
    return None if channel in known else unknown("channel", channel, known)
