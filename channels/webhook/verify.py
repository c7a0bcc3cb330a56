"""Whether a delivery is what it says, decided on its raw bytes before anything reads them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass

from .request import Headers
from .settings import Bearer, Github, Hmac, Settings, Standard

SIGNATURES = 16  # that one request may carry


@dataclass(frozen=True, slots=True)
class Proof:
    """What a delivery has proved: an id that the signature covers, or at least its body."""

    id: str = ""
    body: bool = False


def verify(settings: Settings, headers: Headers, body: bytes, now: float) -> Proof | None:
    """The proof, or None for a delivery that must not be believed."""
    match settings.verify:
        case "none":
            return Proof()
        case Github() as scheme:
            return _github(scheme, headers, body)
        case Standard() as scheme:
            return _standard(scheme, headers, body, now)
        case Hmac() as scheme:
            return _hmac(scheme, headers, body, now)
        case Bearer() as scheme:
            return _bearer(scheme, headers)
        case _:
            return None


def _github(scheme: Github, headers: Headers, body: bytes) -> Proof | None:
    expected = b"sha256=" + hmac.new(scheme.key(), body, hashlib.sha256).hexdigest().encode()
    given = headers.one("x-hub-signature-256")
    return Proof(body=True) if hmac.compare_digest(expected, given) else None


def _standard(scheme: Standard, headers: Headers, body: bytes, now: float) -> Proof | None:
    family = "webhook" if headers.has("webhook-id") else "svix"
    id, sent = headers.one(f"{family}-id"), headers.one(f"{family}-timestamp")
    if not id or not _fresh(sent, now, scheme.tolerance):
        return None
    digest = hmac.new(scheme.key(), b".".join((id, sent, body)), hashlib.sha256).digest()
    expected = base64.b64encode(digest)
    for version, _, given in _signatures(headers.one(f"{family}-signature"), b" ", b","):
        if version == b"v1" and hmac.compare_digest(expected, given):
            return Proof(id=id.decode("latin-1"), body=True)
    return None


def _hmac(scheme: Hmac, headers: Headers, body: bytes, now: float) -> Proof | None:
    value = headers.one(scheme.header)
    fields = [*_signatures(value, b",", b"=")] if scheme.field else []
    sent = _timestamp(scheme, headers, fields)
    if scheme.timestamp and not _fresh(sent, now, scheme.tolerance):
        return None
    digest = hmac.new(scheme.key(), _signed(scheme, sent, body), scheme.algorithm)
    plain = digest.hexdigest().encode()
    coded = plain if scheme.encoding == "hex" else base64.b64encode(digest.digest())
    expected = scheme.prefix.encode() + coded
    name = scheme.field.encode()
    candidates = [given for key, _, given in fields if key == name] if name else [value]
    found = [one for one in candidates if hmac.compare_digest(expected, one)]
    return Proof(body=True) if found else None


def _bearer(scheme: Bearer, headers: Headers) -> Proof | None:
    given = headers.one(scheme.header)
    prefix = b"Bearer " if scheme.header.lower() == "authorization" else b""
    return Proof() if hmac.compare_digest(prefix + scheme.key(), given) else None


def _timestamp(scheme: Hmac, headers: Headers, fields: list[tuple[bytes, bytes, bytes]]) -> bytes:
    if not scheme.timestamp:
        return b""
    if not scheme.field:
        return headers.one(scheme.timestamp)
    given = [value for key, _, value in fields if key == scheme.timestamp.encode()]
    return given[0] if len(given) == 1 else b""


def _signed(scheme: Hmac, sent: bytes, body: bytes) -> bytes:
    values = {"{body}": body, "{timestamp}": sent}
    parts = re.split(r"(\{body\}|\{timestamp\})", scheme.signed)
    return b"".join(values.get(part, part.encode()) for part in parts)


def _signatures(value: bytes, between: bytes, inside: bytes) -> list[tuple[bytes, bytes, bytes]]:
    return [one.strip().partition(inside) for one in value.split(between)[:SIGNATURES]]


def _fresh(sent: bytes, now: float, tolerance: int) -> bool:
    return sent.isdigit() and len(sent) <= 12 and abs(now - int(sent)) <= tolerance
