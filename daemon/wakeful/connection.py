"""The contract of a connection: a provider that the agent may use.

A connection is a module in `connections/` with `Settings` and `open(settings, host)`; what it yields is a
`Connection`. No provider comes with this version; the loader and `check` know the folder already.
"""

from __future__ import annotations

from typing import Any, Protocol

from wakeful.events import Health


class Connection(Protocol):
    def client(self, principal: str) -> Any:
        """An authenticated HTTP client that reaches this provider's hosts only; raises SignInNeeded."""
        ...

    async def probe(self) -> Health: ...
