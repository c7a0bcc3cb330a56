"""The event of a firing: who speaks, where the answer goes, what is said of the time."""

from __future__ import annotations

from wakeful.clock.due import GRACE
from wakeful.events import Event
from wakeful.schedule import Rule
from wakeful.schedule.fires import moment, utc_time
from wakeful.schedule.zones import zone

SOURCE = "schedule"


def firing_event(rule: Rule, due: int, now: int, *, asked: bool = False) -> Event:
    """The same event for the same due time, whoever makes it: its key is computed from it."""
    return Event(
        source=SOURCE,
        keys=(f"{SOURCE}/{rule.name}@{utc_time(due)}",),
        principal=f"{SOURCE}:{rule.name}",
        thread_key=thread_key(rule.name),
        text=f"{_time_line(rule, due, now, asked)}\n\n{rule.prompt}".strip(),
        channel=rule.deliver.partition(":")[0],
        address=rule.deliver,
        kind="firing",
        data={"schedule": rule.name, "due": utc_time(due), "timezone": rule.timezone},
        fresh=rule.thread == "fresh",
    )


def thread_key(name: str) -> str:
    return f"{SOURCE}/{name}"


def _time_line(rule: Rule, due: int, now: int, asked: bool) -> str:
    """When it is, on which day and in which zone; a late run is told that it is late."""
    late = now - due > GRACE
    time = _spoken(now if late else due, rule.timezone)
    words = f"It is {time} in {rule.timezone} ({utc_time(now if late else due)})."
    if asked:
        return f"{words} A person asked for this run of the schedule {rule.name}."
    if late:
        was = _spoken(due, rule.timezone)
        return f"{words} This run of the schedule {rule.name} is late: it was due {was}."
    return f"{words} This is the schedule {rule.name}."


def _spoken(ms: int, timezone: str) -> str:
    return moment(ms).astimezone(zone(timezone)).strftime("%A, %Y-%m-%d, %H:%M")
