"""The contract of a connection: a provider that the agent may use.

A connection is a module in `connections/` with `Settings` and `open(settings, host)`; what it
yields is a `Connection`. No provider comes with this version; the loader knows the folder already.
"""

from __future__ import annotations

from typing import Any, Protocol

from wakeful.events import Health


class Connection(Protocol):
    def client(self, principal: str) -> Any:
        """An HTTP client that is signed in and reaches this provider only; raises SignInNeeded."""
        ...

    async def probe(self) -> Health: ...
