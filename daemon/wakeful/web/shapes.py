"""Values of the daemon as JSON: times are RFC 3339 in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wakeful.events import Message, Update, Wait, rfc3339

EVENT_KEYS = ("state", "thread", "reply", "error", "merged_into")


def event_json(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row.get(key) for key in EVENT_KEYS}


def message_json(message: Message) -> dict[str, Any]:
    shaped = {"role": message.role, "text": message.text, "event": message.event_seq}
    return {**shaped, "at": rfc3339(message.at), "name": message.name}


def wait_json(wait: Wait) -> dict[str, Any]:
    asked = wait.request
    return {
        "id": asked.id,
        "kind": asked.kind,
        "title": asked.title,
        "tool": asked.tool,
        "args": dict(asked.args),
        "digest": asked.digest,
        "agent": asked.agent,
        "allowed": list(asked.allowed),
        "approvers": list(asked.approvers),
        "schema": dict(asked.schema),
        "expires_at": rfc3339(asked.expires_at),
        "thread": wait.thread_key,
        "event": wait.event_seq,
        "state": wait.state,
        "created_at": rfc3339(wait.created_at),
        "decision": _decision_json(wait),
    }


def _decision_json(wait: Wait) -> dict[str, Any] | None:
    made = wait.decision
    if made is None:
        return None
    return {"decision": made.verdict, "by": made.by, "reason": made.reason, "text": made.text}


def update_json(update: Update) -> dict[str, Any]:
    shaped = {"kind": update.kind, "event": update.event_seq, "agent": update.agent}
    return {**shaped, "text": update.text, "call": update.call_id, "detail": update.detail}
