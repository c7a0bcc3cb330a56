"""Values to columns and back: JSON text with short keys, nothing that is not needed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, cast

from wakeful.events import (
    Attachment,
    Decision,
    Event,
    Message,
    Outgoing,
    Reply,
    ReplyKind,
    Wait,
    WaitRequest,
)
from wakeful.store.query import Row

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


def to_json(value: Any) -> str:
    return _encoder.encode(value)


def event_payload(event: Event) -> str:
    payload: dict[str, Any] = {"text": event.text, "keys": event.keys}
    if event.data:
        payload["data"] = dict(event.data)
    if event.attachments:
        payload["files"] = [asdict(one) for one in event.attachments]
    if event.fresh:
        payload["fresh"] = True
    return to_json(payload)


def event_from(row: Row) -> Event:
    """The event of an inbox row; its text is gone when retention has emptied the row."""
    payload: dict[str, Any] = json.loads(row["payload"]) if row["payload"] else {}
    return Event(
        source=row["source"],
        keys=tuple(payload.get("keys", ())),
        principal=row["principal"],
        thread_key=row["thread_key"],
        text=payload.get("text", ""),
        channel=row["channel"],
        address=row["address"],
        kind=row["kind"],
        data=payload.get("data", {}),
        attachments=_attachments(payload.get("files", ())),
        untrusted=bool(row["untrusted"]),
        fresh=payload.get("fresh", False),
        not_before=row["not_before"],
        parent_seq=row["parent_seq"],
    )


def _attachments(files: Iterable[Mapping[str, Any]]) -> tuple[Attachment, ...]:
    return tuple(Attachment(**one) for one in files)


def request_json(request: WaitRequest) -> str:
    return to_json(asdict(request))


def request_from(text: str) -> WaitRequest:
    fields = json.loads(text)
    for name in ("allowed", "approvers", "route", "escalate_to"):
        fields[name] = tuple(fields.get(name, ()))
    return WaitRequest(**fields)


def decision_json(decision: Decision) -> str:
    return to_json(asdict(decision))


def decision_from(text: str) -> Decision:
    return Decision(**json.loads(text))


def wait_from(row: Row) -> Wait:
    return Wait(
        request=request_from(row["request"]),
        thread_key=row["thread_key"],
        event_seq=row["event_seq"],
        state=row["state"],
        created_at=row["created_at"],
        decision=decision_from(row["decision"]) if row["decision"] else None,
    )


def outgoing_payload(outgoing: Outgoing) -> str:
    payload: dict[str, Any] = {"text": outgoing.text}
    if outgoing.wait is not None:
        payload["wait"] = asdict(outgoing.wait)
    if outgoing.attachments:
        payload["files"] = [asdict(one) for one in outgoing.attachments]
    return to_json(payload)


def reply_from(row: Row, *, attempts: int | None = None) -> Reply:
    payload = json.loads(row["payload"]) if row["payload"] else {}
    wait = payload.get("wait")
    return Reply(
        id=row["id"],
        event_seq=row["event_seq"],
        ordinal=row["ordinal"],
        thread_key=row["thread_key"],
        address=row["address"],
        text=payload.get("text", ""),
        kind=cast(ReplyKind, row["kind"]),
        attempts=row["attempts"] if attempts is None else attempts,
        wait=request_from(json.dumps(wait)) if wait else None,
        attachments=_attachments(payload.get("files", ())),
        shown=row["shown"],
    )


def text_of(payload: str) -> str:
    """The text of an inbox or outbox payload, empty when retention has emptied it."""
    return str(json.loads(payload).get("text", "")) if payload else ""


def message_from(row: Row) -> Message:
    return Message(
        role=row["role"],
        text=row["text"],
        at=row["at"],
        event_seq=row["event_seq"],
        name=row["name"],
    )
