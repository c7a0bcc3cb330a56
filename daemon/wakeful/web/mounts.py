"""Where channels hang their own paths."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp

from wakeful.errors import Refused


@dataclass(frozen=True, slots=True)
class Mount:
    path: str
    app: ASGIApp
    public: bool
    owner: str


RESERVED = ("/api", "/static", "/login", "/logout", "/health", "/ready")


class Mounts:
    """Paths and the applications below them; the longest path wins."""

    def __init__(self) -> None:
        self._mounts: dict[str, Mount] = {}

    def mount(self, path: str, app: ASGIApp, *, public: bool = False, owner: str = "") -> None:
        """Serve `app` at `path` and below. The same owner may mount again; another may not."""
        path = "/" + path.strip("/")
        if path == "/" or any(path == one or path.startswith(one + "/") for one in RESERVED):
            raise Refused(f"the path {path} belongs to the daemon; choose another one")
        there = self._mounts.get(path)
        if there and there.owner != owner:
            raise Refused(f"the path {path} is taken by {there.owner}; rename one of the two")
        self._mounts[path] = Mount(path, app, public, owner)

    def drop(self, owner: str) -> None:
        """Take away all that one plug has mounted."""
        self._mounts = {p: m for p, m in self._mounts.items() if m.owner != owner}

    def find(self, path: str, *, public: bool) -> Mount | None:
        """The mount that serves this path, of the public ones or of the others."""
        while path:
            found = self._mounts.get(path)
            if found and found.public is public:
                return found
            path = path.rpartition("/")[0]
        return None
