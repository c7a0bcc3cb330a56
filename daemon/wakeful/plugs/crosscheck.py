"""Names in one file that must stand for something in another."""

from __future__ import annotations

from collections.abc import Iterator

from wakeful.config import unknown
from wakeful.events import Fault
from wakeful.plugs.tools import TAKEN
from wakeful.plugs.values import Snapshot


def crosscheck(snapshot: Snapshot) -> Iterator[Fault]:
    yield from _subagent_tools(snapshot)
    yield from _deliveries(snapshot)


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


def _wrong_channel(address: object, snapshot: Snapshot) -> str | None:
    """What is wrong with the channel of an address; a template is known only when it is filled."""
    if not isinstance(address, str) or not address or "{{" in address:
        return None
    channel = address.partition(":")[0]
    known = snapshot.channels
    return None if channel in known else unknown("channel", channel, known)
