"""Names by which a delivery is known again: what is signed, not what anyone may write."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from urllib.parse import quote

from .request import Headers
from .settings import Settings
from .verify import Proof

UNSIGNED_WINDOW = 300  # seconds
REMEMBERED = 10_000  # bodies, by their digests
ID_HEADERS = (
    "idempotency-key",
    "webhook-id",
    "svix-id",
    "x-github-delivery",
    "x-forgejo-delivery",
    "x-gitea-delivery",
    "x-gitlab-event-uuid",
)
PART_CHARACTERS = 160
THREAD_SAFE = "@+:=,~"


class Bodies:
    """Equal bodies are one delivery within a window that begins with the first of them.

    The name on disk is the digest and a slot of time. What this process has seen keeps the name
    that it got first: a body that comes every minute is a new delivery once in each window, and
    not a repetition for ever. What came before this process is looked for in the last slot, too.
    """

    def __init__(self, window: int, opened_at: float) -> None:
        self._window, self._opened_at = window, opened_at
        self._seen: OrderedDict[str, tuple[float, tuple[str, ...]]] = OrderedDict()

    def names(self, body: bytes, now: float) -> tuple[str, ...]:
        digest = hashlib.sha256(body).hexdigest()
        first, names = self._seen.get(digest, (float("-inf"), ()))
        if abs(now - first) < self._window:  # clocks go backwards, too
            return names
        slot = int(now // self._window)
        slots = (slot, slot - 1) if now - self._opened_at < self._window else (slot,)
        names = tuple(f"body/{digest}/{one}" for one in slots)
        self._seen[digest] = now, names
        self._seen.move_to_end(digest)
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return names


def window_of(settings: Settings) -> int:
    """For how many seconds an equal body is a duplicate."""
    return settings.window or int(getattr(settings.verify, "window", UNSIGNED_WINDOW))


def given_id(proof: Proof, headers: Headers, rendered: str) -> str:
    """What the sender calls this delivery, where that can be believed."""
    return rendered or proof.id or ("" if proof.body else _sender_id(headers))


def keys(hook: str, id: str, bodies: Bodies, body: bytes, now: float) -> tuple[str, ...]:
    """The identities of a delivery, each beginning with the hook's own name."""
    names = (f"id/{_short(id)}",) if id else bodies.names(body, now)
    return tuple(f"{hook}/{name}" for name in names)


def thread_key(hook: str, rendered: str, keys: tuple[str, ...]) -> str:
    """`webhook/<hook>/<rendered>`, each part harmless; else a thread for this delivery alone."""
    parts = [_part(part) for part in rendered.split("/") if part.strip()]
    if not parts:
        parts = [hashlib.sha256(keys[0].encode()).hexdigest()[:16]]
    return "/".join(("webhook", hook, *parts[:8]))


def _sender_id(headers: Headers) -> str:
    found = (headers.one(name) for name in ID_HEADERS)
    return next((value.decode("latin-1") for value in found if value), "")


def _part(text: str) -> str:
    quoted = quote(text.strip().encode("utf-8", "replace"), safe=THREAD_SAFE)
    return _short(quoted).replace("..", "%2E%2E") if quoted != "." else "%2E"


def _short(text: str) -> str:
    if len(text) <= PART_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{text[:PART_CHARACTERS]}-{digest[:16]}"
