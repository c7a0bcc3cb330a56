"""One HTTP request as a hook sees it: raw headers, a bounded body, a JSON answer."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

DEPTH = 100  # levels of a payload
FORM_FIELDS = 1000
SECRET = re.compile(r"authorization|cookie|signature|token|secret|api-?key", re.IGNORECASE)


class TooLarge(Exception):
    """The body is larger than this hook takes."""


class Gone(Exception):
    """The sender hung up before its body was here."""


class NotParsable(Exception):
    """The body is not what its content type says."""


class Headers:
    """Raw headers by name. One that comes twice counts as none: who knows which one was checked."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._raw = [(name.decode("latin-1").lower(), value) for name, value in raw]

    def one(self, name: str) -> bytes:
        found = [value for known, value in self._raw if known == name.lower()]
        return found[0] if len(found) == 1 else b""

    def has(self, name: str) -> bool:
        return any(known == name.lower() for known, _ in self._raw)

    def shown(self, *, hide: str = "") -> dict[str, str]:
        """What templates may see: nothing that proves anything."""
        return {
            name: value.decode("latin-1")
            for name, value in self._raw
            if not SECRET.search(name) and name != hide.lower()
        }


async def read_body(receive: Receive, limit: int, announced: bytes) -> bytes:
    """All of the body. Raises TooLarge, without reading on."""
    if announced.isdigit() and (len(announced) > 12 or int(announced) > limit):
        raise TooLarge
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > limit:
            raise TooLarge
    return b"".join(parts)


def parse(body: bytes, content_type: bytes) -> Any:
    """The payload. Raises NotParsable with a sentence."""
    if content_type.partition(b";")[0].strip().lower() == b"application/x-www-form-urlencoded":
        return _form(body)
    return _json(body)


def _form(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=FORM_FIELDS)
    except ValueError as error:
        raise NotParsable(f"The form cannot be read: {error}.") from None
    if "payload" in fields:
        return _json(fields["payload"][0].encode())
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _json(body: bytes) -> Any:
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise NotParsable(f"The JSON is nested more than {DEPTH} levels deep.") from None
    except ValueError as error:
        raise NotParsable(f"The body is not JSON: {error}.") from None
    level = [value]
    for _ in range(DEPTH):
        level = [child for one in level for child in _children(one)]
        if not level:
            return value
    raise NotParsable(f"The JSON is nested more than {DEPTH} levels deep.")


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


async def answer(send: Send, status: int, value: Mapping[str, Any], *, more: str = "") -> None:
    """A JSON answer. `more` is one header, `name: value`."""
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if more:
        name, _, text = more.partition(": ")
        headers.append((name.encode(), text.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
