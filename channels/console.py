"""The operator's own channel: messages come in over the API, answers are read there.

An answer is delivered when it can be read, and it can be read as soon as it is in the store. So
there is nothing to transmit and nothing to lose: `find` always knows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel, ConfigDict

from wakeful.errors import Refused
from wakeful.events import Claim, Health, Receipt, Reply, Update
from wakeful.host import Host


class Settings(BaseModel):
    """There is nothing to set."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Console:
    """Threads are `console/<name>`, addresses `console:<name>`."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def send(self, reply: Reply) -> Receipt:
        return _receipt(reply)

    async def find(self, reply: Reply) -> Receipt | None:
        return _receipt(reply)

    async def progress(self, claim: Claim, update: Update) -> None:
        """Progress reaches its readers by the event stream."""

    async def amend(self, receipt: Receipt, reply: Reply) -> None:
        """A decided wait is shown as decided wherever it is read."""

    async def probe(self) -> Health:
        """What is shown comes from the store: ask it for something."""
        await self._host.view.threads(limit=1)
        return Health(ok=True)


def _receipt(reply: Reply) -> Receipt:
    if not reply.where:
        raise Refused("an address of the console needs a name, such as console:reports")
    return Receipt(id=str(reply.id), thread_key=f"console/{reply.where}")


@asynccontextmanager
async def open(settings: Settings, host: Host) -> AsyncIterator[Console]:
    yield Console(host)
