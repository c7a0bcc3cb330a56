"""JSON answers, and errors as one sentence each."""

from __future__ import annotations

import logging
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response

from wakeful.errors import (
    AlreadyDecided,
    NotAllowed,
    Refused,
    Stale,
    StoreBroken,
    StoreFull,
    Unknown,
    WakefulError,
)

log = logging.getLogger(__name__)

STATUS: dict[type[BaseException], int] = {
    Unknown: 404,
    Stale: 409,
    AlreadyDecided: 409,
    NotAllowed: 403,
    Refused: 400,
    StoreFull: 507,
    StoreBroken: 503,
    WakefulError: 503,
}


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON response that nobody may cache."""
    response = Response(orjson.dumps(value, default=str), status, headers, "application/json")
    response.headers["cache-control"] = "no-store"
    return response


def error_answer(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    return json_answer({"error": sentence}, status, headers)


def to_answer(error: Exception, *, method: str, path: str) -> Response:
    """What the caller is told of an error: its status, and one sentence."""
    if isinstance(error, HTTPException):
        headers = dict(error.headers) if error.headers else None
        return error_answer(error.status_code, _sentence(error, method), headers)
    status = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)
    if status < 500:
        return error_answer(status, str(error))
    log.error("%s %s failed: %s", method, path, error, exc_info=error, extra={"action": "http"})
    if status == 500:
        return error_answer(500, "Something went wrong in the daemon; its log says what.")
    return error_answer(status, str(error))


def _sentence(error: HTTPException, method: str) -> str:
    if error.status_code == 404 and error.detail == "Not Found":
        return "There is nothing at this path; GET /api/openapi.json lists what there is."
    if error.status_code == 405:
        return f"{method} is not possible here; the Allow header says what is."
    return error.detail
