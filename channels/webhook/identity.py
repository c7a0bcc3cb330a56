"""Names by which a delivery is known again: what is signed, not what anyone may write."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from .request import Headers
from .settings import Settings
from .verify import Proof

UNSIGNED_WINDOW = 300  # seconds
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


def keys(
    hook: str, settings: Settings, proof: Proof, headers: Headers, body: bytes, now: float, id: str
) -> tuple[str, ...]:
    """The identities of a delivery, each beginning with the hook's own name."""
    named = id or proof.id or ("" if proof.body else _sender_id(headers))
    if named:
        return (f"{hook}/id/{_short(named)}",)
    window = settings.window or int(getattr(settings.verify, "window", UNSIGNED_WINDOW))
    digest = hashlib.sha256(body).hexdigest()
    slot = int(now // window)  # this slot and the next: equal bodies meet for at least one window
    return (f"{hook}/body/{digest}/{slot}", f"{hook}/body/{digest}/{slot + 1}")


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
