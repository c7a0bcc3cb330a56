"""Rows as JSON values."""

from __future__ import annotations

import json
from typing import Any

from wakeful.events import rfc3339
from wakeful.store.codec import text_of
from wakeful.store.query import Row

Json = dict[str, Any]
EXCERPT = 200  # characters of a text in a list


def excerpt(text: str | None) -> str:
    line = " ".join((text or "").split())
    return line if len(line) <= EXCERPT else line[: EXCERPT - 1] + "…"


def thread(row: Row) -> Json:
    return {
        "key": row["thread_key"],
        "state": row["state"],
        "at": rfc3339(row["updated_at"]),
        "text": excerpt(row["last_text"]),
        "event": row["head_seq"],
        "owner": row["owner"],
        "untrusted": row["untrusted_since"] is not None,
        "graph": row["graph_id"],
        "attempts": row["attempts"],
        "created_at": rfc3339(row["created_at"]),
    }


def event(row: Row, reply: str | None) -> Json:
    return {
        "event": row["seq"],
        "state": row["shown"],
        "thread": row["thread_key"],
        "reply": reply,
        "error": row["error"],
        "merged_into": row["merged_into"],
    }


def run(row: Row) -> Json:
    return {
        "event": row["seq"],
        "thread": row["thread_key"],
        "state": row["shown"],
        "kind": row["kind"],
        "source": row["source"],
        "principal": row["principal"],
        "address": row["address"],
        "text": excerpt(_asked(row)),
        "attempts": row["attempts"] or 0,
        "untrusted": bool(row["untrusted"]),
        "merged_into": row["merged_into"],
        "parent": row["parent_seq"],
        "error": row["error"],
        "received_at": rfc3339(row["received_at"]),
        "done_at": rfc3339(row["done_at"]),
    }


def _asked(row: Row) -> str:
    """What came in; of a firing the prompt, without the line about the time above it."""
    text = text_of(row["payload"]) or row["said"] or ""
    return (text.partition("\n\n")[2] if row["kind"] == "firing" else "") or text


def step(row: Row) -> Json:
    return {
        "kind": row["kind"],
        "agent": row["agent"],
        "name": row["name"],
        "ok": bool(row["ok"]),
        "started_at": rfc3339(row["started_at"]),
        "ended_at": rfc3339(row["ended_at"]),
        "tokens_in": row["tokens_in"],
        "tokens_out": row["tokens_out"],
        "cost": row["cost"],
        "summary": row["summary"],
    }


def reply(row: Row) -> Json:
    return {
        "address": row["address"],
        "kind": row["kind"],
        "state": row["state"],
        "text": text_of(row["payload"]),
        "attempts": row["attempts"],
        "error": row["last_error"],
        "ended_at": rfc3339(row["ended_at"]),
    }


def effect(row: Row) -> Json:
    return {
        "key": row["call_key"],
        "event": row["event_seq"],
        "thread": row["thread_key"],
        "tool": row["tool"],
        "state": row["state"],
        "started_at": rfc3339(row["started_at"]),
        "done_at": rfc3339(row["done_at"]),
    }


def schedule(row: Row, fired: Row | None) -> Json:
    return {
        "name": row["name"],
        "spec": _spec(row["spec"]),
        "origin": row["origin"],
        "owner": row["owner"],
        "next_at": rfc3339(row["next_at"]),
        "paused_at": rfc3339(row["paused_at"]),
        "last_at": rfc3339(fired["due_at"]) if fired else None,
        "state": fired["state"] if fired else None,
        "outcome": (fired["outcome"] or fired["state"]) if fired else None,
        "delivery": fired["delivery"] if fired else None,
        "event": fired["event_seq"] if fired else None,
    }


def _spec(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
