"""What the operator may start over the API, beyond what channels can."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from wakeful.errors import Refused, Unknown
from wakeful.events import ENDED, OPERATOR
from wakeful.service.core import Core
from wakeful.store import Store


class Commands:
    """`wakeful schedules run` and `wakeful replay`, carried out by the running daemon."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def run_schedule(self, name: str) -> int:
        if self._core.timekeeper is None:
            raise Refused("the daemon is still waking up; try again in a moment")
        return await self._core.timekeeper.run_now(name)

    async def replay(self, seq: int) -> int:
        return await replay(self._core.store, seq)

    async def skills(self) -> list[dict[str, Any]]:
        return await self._core.skills.rows()

    async def skill(self, name: str) -> dict[str, Any]:
        return await self._core.skills.row(name)

    async def accept_skill(self, name: str, digest: str) -> dict[str, Any]:
        return await self._core.skills.accept(self._core.store, name, digest, by=OPERATOR)


async def replay(store: Store, seq: int) -> int:
    """Accept the input of an event that has ended once more, as a new event of its thread."""
    row = await store.event(seq)
    if row is None:
        raise Unknown(f"there is no event {seq}")
    if row["state"] not in ENDED:
        raise Refused(f"event {seq} has not ended yet; stop it first")
    event = await store.input_of(seq)
    if event is None or not event.text:
        raise Refused(f"the text of event {seq} is not kept any more, so it cannot run again")
    key = f"{event.source}/replay/{seq}/{uuid.uuid4().hex}"
    again = replace(event, keys=(key,), parent_seq=seq, not_before=None, fresh=False)
    return (await store.accept(again)).seq
