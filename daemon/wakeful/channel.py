"""The contract of a channel. A channel is a module (or a folder) in `channels/` with two names:

`Settings`   a pydantic model of its TOML file,
`open(settings, host)`   an async context manager that yields a `Channel`.

It raises on failure; only the courier retries. It calls `host.accept` for what comes in. One with
`shows_progress = True` is told of the progress of runs whose answers go to it, and nobody else is:
a run that is watched costs more.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from wakeful.events import Claim, Health, Receipt, Reply, Update
from wakeful.host import Host


@runtime_checkable
class Channel(Protocol):
    async def send(self, reply: Reply) -> Receipt:
        """Deliver. Raises RetryLater when it may work later, Refused when it never will."""
        ...

    async def find(self, reply: Reply) -> Receipt | None:
        """Look whether the destination has it already; asked before a doubtful one is re-sent."""
        ...

    async def progress(self, claim: Claim, update: Update) -> None:
        """Show something of a run that goes on, and record it by `host.shown`; may do nothing.

        Called for one update after the other; the answer goes out when the last one is done.
        """
        ...

    async def amend(self, receipt: Receipt, reply: Reply) -> None:
        """Change what was delivered: a question's card, now that the question is closed.

        The reply's text says how; doing it twice is nothing. May do nothing.
        """
        ...

    async def probe(self) -> Health:
        """Go round once and say whether this channel works."""
        ...


class ChannelModule(Protocol):
    Settings: type[Any]

    def open(self, settings: Any, host: Host) -> AbstractAsyncContextManager[Channel]: ...
