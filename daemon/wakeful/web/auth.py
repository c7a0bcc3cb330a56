"""The operator's token, the one-time code that lets a browser in, and the cookie it becomes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path

from wakeful import files
from wakeful.errors import Refused
from wakeful.host import Clock

CODE_SECONDS = 60
CODES_AT_ONCE = 8
COOKIE_SECONDS = 7 * 24 * 3600
ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789"  # nothing that looks like something else
CODE_LENGTH = 10


class Auth:
    """Knows the token and who has proved to hold it."""

    def __init__(self, token: str, *, clock: Clock) -> None:
        self._token, self._clock = token.encode(), clock
        self._codes: dict[str, float] = {}
        self.cookie_name = "wakeful-" + self._sign("cookie-name")[:8]  # ports share their cookies

    @classmethod
    def load(cls, path: Path, *, clock: Clock) -> Auth:
        """Read the token, or make it at the first start."""
        if not path.exists():
            create_token(path)
        return cls(read_token(path), clock=clock)

    def holds(self, authorization: list[bytes]) -> bool:
        """Whether exactly one Authorization header is there and carries the token."""
        if len(authorization) != 1 or not authorization[0].startswith(b"Bearer "):
            return False
        return hmac.compare_digest(authorization[0][7:], self._token)

    def new_code(self) -> str:
        """A code that opens one browser session; good once, and for a minute."""
        now = self._clock.boot()
        alive = sorted((until, code) for code, until in self._codes.items() if until > now)
        self._codes = {code: until for until, code in alive[-(CODES_AT_ONCE - 1) :]}
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        self._codes[code] = now + CODE_SECONDS
        return code

    def redeem(self, code: str) -> str | None:
        """Trade a code for the value of a cookie."""
        typed = code.strip().upper().replace("-", "").encode(errors="replace")
        match = [one for one in self._codes if hmac.compare_digest(one.encode(), typed)]
        if not match or self._codes.pop(match[0]) <= self._clock.boot():
            return None
        return self.new_cookie()

    def new_cookie(self) -> str:
        until = self._clock.now() // 1000 + COOKIE_SECONDS
        body = f"{until}.{secrets.token_urlsafe(12)}"
        return f"{body}.{self._sign('cookie', body)}"

    def knows(self, cookie: str) -> bool:
        """Whether we signed this cookie and it is not too old."""
        body, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(
            signature.encode(errors="replace"), self._sign("cookie", body).encode()
        ):
            return False
        return int(body.partition(".")[0]) * 1000 > self._clock.now()

    def _sign(self, *parts: str) -> str:
        text = "\0".join(parts).encode(errors="replace")
        digest = hmac.new(self._token, text, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def read_token(path: Path) -> str:
    """The token of a running daemon; refuses a file that others on this machine can read."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        raise Refused(
            f"{path} can be read by others; delete it, and the next start makes a new one"
        )
    token = path.read_text().strip()
    if len(token) < 32:
        raise Refused(f"{path} holds no token; delete it, and the next start makes a new one")
    return token


def create_token(path: Path) -> None:
    """Make a token; a start that is killed here leaves none, and never half of one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.put(path, f"{secrets.token_urlsafe(32)}\n".encode())
