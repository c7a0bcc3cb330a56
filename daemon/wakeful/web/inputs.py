"""What the API takes in, parsed once: a wrong value becomes a sentence here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request

from wakeful.events import OPERATOR, Decision, Verdict

TEXT_CHARS = 200_000
DEPTH = 32  # of a JSON body
LARGEST = 2**53 - 1  # what every JSON reader and both databases can hold
THREAD = re.compile(r"console/[A-Za-z0-9][A-Za-z0-9._@+~-]{0,127}")
KEY = re.compile(r"[\x21-\x7e]{1,200}")
VERDICTS: dict[str, Verdict] = {verdict: verdict for verdict in get_args(Verdict)}


@dataclass(frozen=True, slots=True)
class NewMessage:
    text: str
    thread: str | None
    id: str | None


def bad(sentence: str) -> HTTPException:
    return HTTPException(400, sentence)


async def json_object(request: Request, known: set[str]) -> dict[str, Any]:
    """The body as a JSON object with no keys but these."""
    try:
        value = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise bad(f"The body is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise bad("The body must be a JSON object.")
    if strange := sorted(value.keys() - known):
        raise bad(f"Unknown key {strange[0]!r}; known are {', '.join(sorted(known))}.")
    if too_deep(value):
        raise bad(f"The body is nested more than {DEPTH} levels deep.")
    return value


def too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH):
        level = [child for one in level for child in _children(one)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [child for child in value.values() if isinstance(child, dict | list)]
    return [child for child in value if isinstance(child, dict | list)]


def text_of(body: Mapping[str, Any], key: str, *, needed: bool = False) -> str:
    value = body.get(key)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or (needed and not value.strip()):
        raise bad(f"{key!r} must be a text" + (" that is not empty." if needed else "."))
    if len(value) > TEXT_CHARS:
        raise bad(f"{key!r} is longer than {TEXT_CHARS:,} characters.")
    if "\0" in value:
        raise bad(f"{key!r} contains a NUL character.")
    return value


async def new_message(request: Request) -> NewMessage:
    """The body of POST /api/messages."""
    body = await json_object(request, {"thread", "text", "id"})
    text, thread, id = text_of(body, "text", needed=True), body.get("thread"), body.get("id")
    if thread is not None and not (isinstance(thread, str) and THREAD.fullmatch(thread)):
        raise bad(
            "'thread' must be console/<name>, a name of up to 128 letters, digits and ._@+~- ."
        )
    if id is not None and not (isinstance(id, str) and KEY.fullmatch(id)):
        raise bad("'id' must be 1 to 200 printable ASCII characters without spaces.")
    return NewMessage(text, thread, id)


async def new_decision(request: Request) -> Decision:
    """The body of POST /api/waits/{id}; the operator decides."""
    body = await json_object(request, {"decision", "digest", "args", "reason", "text"})
    verdict, digest, args = body.get("decision"), body.get("digest"), body.get("args")
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise bad("'decision' must be approve, edit, reject or answer.")
    if not isinstance(digest, str):
        raise bad("'digest' is missing; take it from GET /api/waits, it says what you decide on.")
    if args is not None and not isinstance(args, dict):
        raise bad("'args' must be an object with all arguments of the call.")
    if (verdict == "edit") is not (args is not None):
        raise bad("'args' goes with the decision edit, and with no other.")
    return Decision(
        verdict=VERDICTS[verdict],
        by=OPERATOR,
        digest=digest,
        args=args,
        reason=text_of(body, "reason"),
        text=text_of(body, "text", needed=verdict == "answer"),
    )


async def seen_digest(request: Request) -> str:
    """The body of POST /api/skills/{name}/accept: what was looked at."""
    body = await json_object(request, {"digest"})
    if not isinstance(body.get("digest"), str):
        raise bad("'digest' is missing; take it from GET /api/skills/{name}, with the diff.")
    return str(body["digest"])


def event_number(request: Request) -> int:
    """The event in the path."""
    text = str(request.path_params["event"])
    if not (text.isascii() and text.isdecimal() and len(text) <= 16):
        raise HTTPException(404, "There is no such event.")
    return min(int(text), LARGEST)


def number(request: Request, key: str, default: int, *, most: int) -> int:
    """A whole number of the query, from 1 to `most`."""
    return maybe_number(request, key, most=most) or default


def maybe_number(request: Request, key: str, *, most: int = LARGEST) -> int | None:
    """The same, none when it is not there."""
    text = request.query_params.get(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 16 and 1 <= int(text) <= most):
        raise bad(f"{key!r} must be a whole number from 1 to {most}.")
    return int(text)


def one_of(request: Request, key: str, words: Sequence[str]) -> str | None:
    """A word of the query; none when it is not there."""
    word = request.query_params.get(key)
    if word is not None and word not in words:
        raise bad(f"{key!r} must be one of {', '.join(words)}.")
    return word
