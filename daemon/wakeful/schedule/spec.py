"""A rule as JSON: how the store keeps it, and how it is shown without its file."""

from __future__ import annotations

import json

from wakeful.schedule import Rule
from wakeful.schedule.fires import local_time
from wakeful.schedule.times import UNITS

FIELDS = ("cron", "every", "at", "timezone", "deliver", "thread", "catch_up", "prompt", "file")


def to_spec(rule: Rule) -> str:
    """All of a rule that is not its name or code; what is not set is left out."""
    values = {field: getattr(rule, field) for field in FIELDS}
    kept = {field: value for field, value in values.items() if value not in ("", None)}
    return json.dumps(kept | ({"handler": True} if rule.run else {}), ensure_ascii=False)


def from_spec(name: str, spec: str, digest: str = "") -> Rule:
    """The rule of a stored spec, without the code of a handler."""
    values = json.loads(spec)
    known = {field: values[field] for field in FIELDS if field in values}
    return Rule(name=name, digest=digest, **known)


def when(rule: Rule) -> str:
    """When a rule fires, in the words of its file."""
    if rule.at is not None:
        return f"at {local_time(rule.at, rule.timezone)}"
    if rule.every is not None:
        return f"every {interval(rule.every)}"
    return f"{rule.cron} {rule.timezone}"


def interval(seconds: float) -> str:
    """Seconds as people write them: 1h11m, 90s as 1m30s."""
    rest, parts = round(seconds, 3), []
    for unit in ("d", "h", "m"):
        count, rest = divmod(rest, UNITS[unit])
        if count:
            parts.append(f"{count:g}{unit}")
    if rest or not parts:
        parts.append(f"{rest:g}s")
    return "".join(parts)
