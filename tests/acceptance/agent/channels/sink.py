"""A channel that posts each reply to a receiver, which can be asked what it has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from pydantic import BaseModel

from wakeful.errors import RetryLater
from wakeful.events import Claim, Health, Receipt, Reply, Update
from wakeful.host import Host


class Settings(BaseModel, extra="forbid"):
    """`url`: the receiver's."""

    url: str


class Sink:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def send(self, reply: Reply) -> Receipt:
        body = {
            "id": str(reply.id),
            "kind": reply.kind,
            "text": reply.text,
            "thread": reply.thread_key,
            "address": reply.address,
            "event": reply.event_seq,
        }
        try:
            (await self.client.post("/", json=body)).raise_for_status()
        except httpx.HTTPError as error:
            raise RetryLater(str(error)) from error
        return Receipt(str(reply.id))

    async def find(self, reply: Reply) -> Receipt | None:
        answer = await self.client.get(f"/{reply.id}")
        return Receipt(str(reply.id)) if answer.status_code == 200 else None

    async def progress(self, claim: Claim, update: Update) -> None:
        """A receiver sees whole messages only."""

    async def amend(self, receipt: Receipt, reply: Reply) -> None:
        """What was received stays as it is."""

    async def probe(self) -> Health:
        return Health((await self.client.get("/probe")).status_code == 404)


@asynccontextmanager
async def open(settings: Settings, host: Host) -> AsyncIterator[Sink]:
    async with httpx.AsyncClient(base_url=settings.url, timeout=10, trust_env=False) as client:
        yield Sink(client)
