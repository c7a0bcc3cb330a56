"""The running daemon of a folder, asked over its API with the folder's token."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wakeful.cli import exits

if TYPE_CHECKING:
    import httpx

    from wakeful.config import Settings

PATIENCE = 20.0  # seconds for one answer
KNOCK = 2.0  # seconds until nobody is home
STATE = ".wakeful"
CODES = {
    400: exits.FAILED,
    403: exits.CONFLICT,
    404: exits.UNKNOWN,
    409: exits.CONFLICT,
    507: exits.STORE,
}

Row = dict[str, Any]


def address_of(home: Path, settings: Settings) -> str:
    """Where the daemon says that it listens, else where it would."""
    written = home / STATE / "address"
    if written.is_file():
        return written.read_text().strip()
    return f"http://{settings.server.bind}"


def find_daemon(home: Path, settings: Settings) -> Daemon | None:
    """The daemon that knows this folder's token, or nothing when there is none."""
    import httpx

    from wakeful.web.auth import read_token

    token = home / STATE / "token"
    if not token.is_file():
        return None
    daemon = Daemon(address_of(home, settings), read_token(token))
    try:
        return daemon if daemon.knows_us() else None
    except httpx.TransportError:
        return None


class Daemon:
    """One daemon; what it refuses ends the command with its sentence."""

    running = True

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._headers = {"Authorization": f"Bearer {token}"}

    def knows_us(self) -> bool:
        """Whether somebody listens there who takes our token; another folder's daemon does not."""
        return self._send("GET", "/api/waits", timeout=KNOCK).status_code != 401

    def status(self) -> Row:
        return self._row("/api/status")

    def threads(self, limit: int) -> list[Row]:
        return self._rows("/api/threads", "threads", limit=limit)

    def thread(self, key: str, limit: int) -> Row:
        return self._row("/api/thread", key=key, limit=limit)

    def runs(self, limit: int, state: str | None) -> list[Row]:
        return self._rows("/api/runs", "runs", limit=limit, state=state)

    def run(self, event: int) -> Row:
        return self._row(f"/api/runs/{event}")

    def waits(self, state: str) -> list[Row]:
        return self._rows("/api/waits", "waits", state=state)

    def effects(self, limit: int, state: str | None) -> list[Row]:
        return self._rows("/api/effects", "effects", limit=limit, state=state)

    def schedules(self) -> list[Row]:
        return self._rows("/api/schedules", "schedules")

    def decide(self, wait: str, decision: Row) -> Row:
        return self._row(f"/api/waits/{wait}", decision)

    def replay(self, event: int) -> int:
        return int(self._row(f"/api/events/{event}/replay", {})["event"])

    def run_schedule(self, name: str) -> int:
        return int(self._row(f"/api/schedules/{name}/run", {})["event"])

    def skills(self) -> list[Row]:
        return self._rows("/api/skills", "skills")

    def skill(self, name: str) -> Row:
        return self._row(f"/api/skills/{quote(name, safe='')}")

    def accept_skill(self, name: str, digest: str) -> Row:
        return self._row(f"/api/skills/{quote(name, safe='')}/accept", {"digest": digest})

    def new_code(self) -> str:
        return str(self._row("/api/codes", {})["code"])

    def _rows(self, path: str, under: str, **query: Any) -> list[Row]:
        return list(self._row(path, **query)[under])

    def _row(self, path: str, body: Row | None = None, **query: Any) -> Row:
        method = "GET" if body is None else "POST"
        answer = self._send(method, path, body, **query)
        if answer.is_success:
            row: Row = answer.json()
            return row
        raise exits.Fail(_sentence(answer), CODES.get(answer.status_code, exits.FAILED))

    def _send(
        self,
        method: str,
        path: str,
        body: Row | None = None,
        *,
        timeout: float = PATIENCE,
        **query: Any,
    ) -> httpx.Response:
        import httpx

        given = {key: value for key, value in query.items() if value is not None}
        with httpx.Client(
            base_url=self.url, headers=self._headers, trust_env=False, timeout=timeout
        ) as client:
            return client.request(method, path, json=body, params=given)


def _sentence(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"])
    except (ValueError, KeyError, TypeError):
        return f"the daemon answered {answer.status_code}; its log says why."
