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
            if name not in known:
                message = unknown("tool", name, known)
                yield Fault(file=spec.file, key="tools", message=message)


def _deliveries(snapshot: Snapshot) -> Iterator[Fault]:
    for rule in snapshot.schedules:
        channel = rule.deliver.partition(":")[0]
        if channel and channel not in snapshot.channels:
            message = unknown("channel", channel, snapshot.channels)
            yield Fault(file=rule.file, key="deliver", message=message)
