"""What to do about a schedule whose time has come: fire, fire once for many, or miss it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from wakeful.schedule import Rule
from wakeful.schedule.fires import fires, local_time, next_fires

GRACE = 30_000  # ms; what is not later than this is on time
COUNTED = 100  # missed firings that are counted; more are "more than"
MINUTE, FOREVER = 60_000, 400 * 366 * 86_400_000  # ms


@dataclass(frozen=True, slots=True)
class Fire:
    """Fire for the time `due`. `missed`: the first time that this firing stands for, and why."""

    due: int
    next_at: int | None
    missed: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """Do not fire; `reason` goes into the ledger, and to people when nobody was awake."""

    due: int
    next_at: int | None
    reason: str
    told: bool = False


def decide(rule: Rule, seen: int, now: int, *, anchor: int) -> Fire | Skip:
    """By the rule's `catch_up`, what becomes of a time `seen` that is not after `now`."""
    if rule.catch_up == "all":
        return Fire(seen, first(rule, seen, anchor))
    due = max(seen, newest(rule, seen, now, anchor))
    then = first(rule, now, anchor)
    if rule.catch_up == "skip" and now - due > GRACE:
        why = f"missed: {_late(rule, seen, due, now, anchor)}; catch_up: skip"
        return Skip(seen, then, why, told=True)
    if due == seen:
        return Fire(due, then)
    until = local_time(due, rule.timezone)
    return Fire(due, then, (seen, f"missed: {_many(rule, seen, due, anchor)}, {until} stands in"))


def first(rule: Rule, after: int, anchor: int) -> int | None:
    """The first time after a moment, None when there is none left."""
    return next(iter(next_fires(rule, after, 1, anchor=anchor)), None)


def newest(rule: Rule, seen: int, now: int, anchor: int) -> int:
    """The last time up to `now`, looked for from its end: a month of minutes is a long walk."""
    window = MINUTE
    while now - window > seen:
        found = first(rule, now - window, anchor)
        if found is not None and found <= now:
            break
        window *= 2
    times = fires(rule, max(now - window, seen - 1), anchor=anchor)
    due = seen
    for time in times:
        if time > now:
            break
        due = time
    return due


def _late(rule: Rule, seen: int, due: int, now: int, anchor: int) -> str:
    back = f"nobody was awake before {local_time(now, rule.timezone)}"
    if due == seen:
        return f"due {local_time(seen, rule.timezone)}, {back}"
    return f"{_many(rule, seen, now, anchor)}, {back}"


def _many(rule: Rule, seen: int, end: int, anchor: int) -> str:
    """How many firings lie in [seen, end), in words."""
    times = islice(fires(rule, seen, anchor=anchor), COUNTED)
    count = 1 + sum(1 for time in times if time < end)
    number = f"more than {COUNTED}" if count > COUNTED else str(count)
    return f"{number} firing{'' if count == 1 else 's'} from {local_time(seen, rule.timezone)} on"
