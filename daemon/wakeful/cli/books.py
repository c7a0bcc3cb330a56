"""The store of a daemon that is down: read without a lock, written with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wakeful.cli.exits import UNAVAILABLE, Fail
from wakeful.errors import Unknown
from wakeful.events import OPERATOR, Decision
from wakeful.web.shapes import message_json, wait_json

if TYPE_CHECKING:
    from wakeful.config import Settings
    from wakeful.host import Host
    from wakeful.plugs import Snapshot
    from wakeful.schedule import Rule
    from wakeful.service.skills import SkillBook
    from wakeful.store import Store
    from wakeful.store.view import Views as View

Row = dict[str, Any]
T = TypeVar("T")


class Books:
    """Answers like the daemon would, from what it left on disk."""

    running = False

    def __init__(self, home: Path, settings: Settings) -> None:
        self._home, self._settings = home, settings

    def status(self) -> Row:
        async def look(view: View) -> Row:
            waiting = await self._skill_book(view).waiting()
            return {**await view.status(), "quarantined_skills": waiting}

        return self._read(look)

    def threads(self, limit: int) -> list[Row]:
        return self._read(lambda view: view.threads(limit=limit))

    def thread(self, key: str, limit: int) -> Row:
        async def look(view: View) -> Row:
            found = await view.thread(key)
            if found is None:
                raise Unknown("There is no such thread; `wakeful threads` lists them.")
            messages = [message_json(one) for one in await view.messages(key, limit=limit)]
            return {"key": key, "state": found.get("state"), "messages": messages}

        return self._read(look)

    def runs(self, limit: int, state: str | None) -> list[Row]:
        return self._read(lambda view: view.runs(limit=limit, state=state))

    def run(self, event: int) -> Row:
        found = self._read(lambda view: view.run(event))
        if found is None:
            raise Unknown("There is no such run; `wakeful runs` lists them.")
        return found

    def waits(self, state: str) -> list[Row]:
        asked = None if state == "all" else state
        return [wait_json(one) for one in self._read(lambda view: view.waits(state=asked))]

    def schedules(self) -> list[Row]:
        """What the store knows, and what the folder holds that no daemon has seen yet."""
        rows = self._read(lambda view: view.schedules())
        known = {row["name"] for row in rows}
        new = [rule for rule in self._snapshot().schedules if rule.name not in known]
        return sorted([*rows, *map(_planned, new)], key=lambda row: str(row["name"]))

    def decide(self, wait: str, decision: Row) -> Row:
        made = Decision(
            verdict=decision["decision"],
            by=OPERATOR,
            digest=decision["digest"],
            reason=decision.get("reason", ""),
        )
        return wait_json(self._write(lambda store: store.decide(wait, made, key=f"cli/{wait}")))

    def effects(self, limit: int, state: str | None) -> list[Row]:
        return self._read(lambda view: view.effects(state=state, limit=limit))

    def replay(self, event: int) -> int:
        from wakeful.service.operations import replay

        return self._write(lambda store: replay(store, event))

    def skills(self) -> list[Row]:
        return self._read(lambda view: self._skill_book(view).rows())

    def skill(self, name: str) -> Row:
        return self._read(lambda view: self._skill_book(view).row(name))

    def accept_skill(self, name: str, digest: str) -> Row:
        return self._write(
            lambda store: self._skill_book(store.view).accept(store, name, digest, by=OPERATOR)
        )

    def _skill_book(self, view: View) -> SkillBook:
        from wakeful.service.skills import SkillBook

        return SkillBook(self._home, self._settings, view)

    def run_schedule(self, name: str) -> int:
        """Fire a schedule into the inbox; one with code of its own needs the daemon's hosts."""
        from wakeful.clock import Timekeeper
        from wakeful.plugs.schedules import unread
        from wakeful.service.time import SystemClock

        snapshot = self._snapshot()
        rules, kept = snapshot.schedules, unread(snapshot.faults)
        if any(rule.name == name and rule.run for rule in rules):
            raise Fail(f"{name} is Python and runs in the daemon; start it first.", UNAVAILABLE)

        async def fire(store: Store) -> int:
            keeper = Timekeeper(store, SystemClock(), _nobody)
            await keeper.use(rules, kept=kept)
            return await keeper.run_now(name)

        return self._write(fire)

    def _snapshot(self) -> Snapshot:
        from wakeful.plugs import Folder

        return Folder(self._home, self._settings).scan()

    def _read(self, look: Callable[[View], Awaitable[T]]) -> T:
        from wakeful.store import open_reader

        async def opened() -> T:
            async with open_reader(await self._url()) as view:
                return await look(view)

        return asyncio.run(opened())

    def _write(self, change: Callable[[Store], Awaitable[T]]) -> T:
        from wakeful.service.time import SystemClock
        from wakeful.store import open_store

        async def opened() -> T:
            async with open_store(await self._url(), clock=SystemClock(), owner="cli") as store:
                return await change(store)

        return asyncio.run(opened())

    async def _url(self) -> str:
        from wakeful.secrets import open_secrets

        url = self._settings.store.url
        if url is None:
            return f"sqlite:///{self._home / '.wakeful' / 'state.db'}"
        secrets = open_secrets(self._home, self._settings.secrets)
        return (await secrets.resolve(url)).get_secret_value()


def _nobody(name: str) -> Host:
    raise Fail(f"{name} needs the daemon; start it first.", UNAVAILABLE)


def _planned(rule: Rule) -> Row:
    """A schedule that no daemon has armed, as the store would show it; intervals begin with one."""
    from json import loads
    from time import time_ns

    from wakeful.schedule.fires import next_fires, utc_time
    from wakeful.schedule.spec import to_spec

    due = [] if rule.every else next_fires(rule, time_ns() // 1_000_000)
    blank = dict.fromkeys(("paused_at", "last_at", "state", "outcome", "delivery", "event"))
    return {
        "name": rule.name,
        "spec": loads(to_spec(rule)),
        "origin": "file",
        "owner": "",
        "next_at": utc_time(due[0]) if due else None,
        **blank,
    }
