"""The OpenAPI document of the API, kept by hand and held to the truth by a test and a fuzzer."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, TypeAlias

from wakeful.events import EFFECT_STATES, EVENT_STATES, WAIT_STATES

Schema: TypeAlias = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
EVENT: Schema = {"type": "integer", "minimum": 1}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_EVENT: Schema = {"type": ["integer", "null"]}
ERROR: Schema = {"type": "object", "required": ["error"], "properties": {"error": TEXT}}


def document() -> Schema:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Wakeful", "version": version("wakeful")},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
        "paths": {**_events(), **_threads(), **_waits(), **_runs(), **_skills(), **_probes()},
    }


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _answers(status: int, schema: Schema, *errors: int, media: str = "application/json") -> Schema:
    good = {"description": "Done", "content": {media: {"schema": schema}}}
    wrong = {"description": "One sentence", "content": {"application/json": {"schema": ERROR}}}
    codes = {*errors, 401, 403, 421, 503}
    return {str(status): good, **{str(code): wrong for code in sorted(codes)}}


def _get(name: str, answers: Schema, *parameters: Schema) -> Schema:
    return {"operationId": name, "parameters": list(parameters), "responses": answers}


def _post(name: str, answers: Schema, *parameters: Schema, body: Schema | None = None) -> Schema:
    operation = _get(name, answers, *parameters)
    if body:
        content = {"application/json": {"schema": body}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _in_path(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query(name: str, schema: Schema, *, required: bool = False) -> Schema:
    return {"name": name, "in": "query", "required": required, "schema": schema}


def _limit(default: int) -> Schema:
    return _query("limit", {"type": "integer", "minimum": 1, "maximum": 1000, "default": default})


def _events() -> Schema:
    event = _in_path("event", EVENT)
    state = {"type": "string", "enum": list(EVENT_STATES)}
    shown = _object(
        state=state, thread=TEXT, reply=MAYBE_TEXT, error=MAYBE_TEXT, merged_into=MAYBE_EVENT
    )
    body = {
        "type": "object",
        "required": ["text"],
        "additionalProperties": False,
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 200_000, "pattern": "\\S"},
            "thread": {
                "type": "string",
                "pattern": "^console/[A-Za-z0-9][A-Za-z0-9._@+~-]{0,127}$",
            },
            "id": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,200}$"},
        },
    }
    took = _object(event=EVENT, thread=TEXT, duplicate=FLAG)
    replayed = _answers(202, _object(event=EVENT), 400, 404, 501)
    streamed = _answers(200, TEXT, 404, media="text/event-stream")
    return {
        "/api/messages": {
            "post": _post("post_message", _answers(202, took, 400, 408, 413, 507), body=body)
        },
        "/api/events/{event}": {"get": _get("event", _answers(200, shown, 404), event)},
        "/api/events/{event}/stream": {"get": _get("stream", streamed, event)},
        "/api/events/{event}/stop": {
            "post": _post("stop", _answers(200, _object(stopped=FLAG), 404), event)
        },
        "/api/events/{event}/replay": {"post": _post("replay", replayed, event)},
    }


def _threads() -> Schema:
    role = {"type": "string", "enum": ["user", "assistant", "tool"]}
    message = _object(role=role, text=TEXT, event=MAYBE_EVENT, at=TEXT)
    one = _object(key=TEXT, state=TEXT, messages=_list(message))
    listed = _answers(200, _object(threads=_list(OBJECT)), 400)
    key, before = _query("key", TEXT, required=True), _query("before", EVENT)
    return {
        "/api/threads": {"get": _get("threads", listed, _limit(200), _query("before", TEXT))},
        "/api/thread": {
            "get": _get("thread", _answers(200, one, 400, 404), key, _limit(200), before)
        },
    }


def _waits() -> Schema:
    wait = _object(id=TEXT, kind=TEXT, title=TEXT, args=OBJECT, digest=TEXT, state=TEXT)
    verdict = {"type": "string", "enum": ["approve", "edit", "reject", "answer"]}
    body = {
        "type": "object",
        "required": ["decision", "digest"],
        "additionalProperties": False,
        "properties": {
            "decision": verdict,
            "digest": TEXT,
            "args": OBJECT,
            "reason": TEXT,
            "text": TEXT,
        },
    }
    states = {"type": "string", "enum": [*WAIT_STATES, "all"], "default": "open"}
    listed = _answers(200, _object(waits=_list(wait)), 400)
    decided = _answers(200, wait, 400, 404, 408, 409, 413)
    return {
        "/api/waits": {"get": _get("waits", listed, _query("state", states))},
        "/api/waits/{id}": {"post": _post("decide", decided, _in_path("id", TEXT), body=body)},
    }


def _runs() -> Schema:
    event, name = _in_path("event", EVENT), _in_path("name", TEXT)
    runs = _answers(200, _object(runs=_list(OBJECT)), 400)
    state = _query("state", {"type": "string", "enum": list(EVENT_STATES)})
    fired = _answers(202, _object(event=EVENT), 400, 404, 501)
    code = _object(code=TEXT, seconds={"type": "integer"})
    schedules = _answers(200, _object(schedules=_list(OBJECT)))
    effects = _answers(200, _object(effects=_list(OBJECT)), 400)
    effect_states = {"type": "string", "enum": list(EFFECT_STATES)}
    return {
        "/api/runs": {"get": _get("runs", runs, _limit(50), state)},
        "/api/runs/{event}": {"get": _get("run", _answers(200, OBJECT, 404), event)},
        "/api/effects": {
            "get": _get("effects", effects, _limit(50), _query("state", effect_states))
        },
        "/api/schedules": {"get": _get("schedules", schedules)},
        "/api/schedules/{name}/run": {"post": _post("run_schedule", fired, name)},
        "/api/status": {"get": _get("status", _answers(200, OBJECT))},
        "/api/codes": {"post": _post("new_code", _answers(201, code))},
        "/api/openapi.json": {"get": _get("openapi", _answers(200, OBJECT))},
    }


def _skills() -> Schema:
    name = _in_path("name", TEXT)
    one = _object(name=TEXT, state=TEXT, digest=TEXT, why=_list(TEXT))
    with_diff = _object(name=TEXT, state=TEXT, digest=TEXT, why=_list(TEXT), diff=TEXT)
    body = {**_object(digest=TEXT), "additionalProperties": False}
    accepted = _answers(200, with_diff, 400, 404, 408, 409, 413, 501)
    return {
        "/api/skills": {"get": _get("skills", _answers(200, _object(skills=_list(one)), 501))},
        "/api/skills/{name}": {"get": _get("skill", _answers(200, with_diff, 400, 404, 501), name)},
        "/api/skills/{name}/accept": {"post": _post("accept_skill", accepted, name, body=body)},
    }


def _probes() -> Schema:
    probes = _object(ok=FLAG)
    health = {**_get("health", _answers(200, probes)), "security": []}
    ready = {**_get("ready", _answers(200, probes)), "security": []}
    return {"/health": {"get": health}, "/ready": {"get": ready}}
