"""What is there from the first moment on: the store, the bus, the channels and their courier."""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wakeful.clock import Timekeeper
from wakeful.config import Settings
from wakeful.courier import Courier, alarm
from wakeful.errors import StoreBroken
from wakeful.events import Event, Fault
from wakeful.host import Clock, Host
from wakeful.plugs import ChannelPlug, Snapshot
from wakeful.plugs.schedules import unread
from wakeful.secrets import Secrets
from wakeful.service.artefacts import Artefacts
from wakeful.service.channels import Channels
from wakeful.service.host import Desk, PlugHost
from wakeful.service.machine import files_left
from wakeful.service.skills import SkillBook
from wakeful.service.tidying import Compact, compact_idle
from wakeful.service.updates import Updates
from wakeful.service.view import LiveView
from wakeful.store import RetentionPolicy, Store
from wakeful.web import Mounts
from wakeful.worker import Limits, Worker

log = logging.getLogger(__name__)

RESTART = ("server", "store", "secrets", "tracing")  # settings that are read once
HEALTH_SECONDS = 5.0  # that the store may take for a probe
OPEN_FILES_SPARE = 16  # descriptors below which the daemon is not well


class Core:
    """The parts that everything else is bound to. It knows the worker once there is one."""

    def __init__(
        self, path: Path, settings: Settings, store: Store, secrets: Secrets, clock: Clock
    ) -> None:
        self.path, self.settings, self.store, self.secrets, self.clock = (
            path,
            settings,
            store,
            secrets,
            clock,
        )
        self.started_at = clock.now()
        self.mounts = Mounts()
        self.updates = Updates(store.event, process=uuid.uuid4().hex[:12])
        self.view = LiveView(store.view, self.updates, self.facts)
        self.channels = Channels(
            clock,
            host=self.host,
            validate=self.channel_settings,
            changed=self._channel_changed,
            redact=secrets.redact,
            gave_up=self._alarm,
        )
        self.courier = Courier(
            store, self.channels, clock, known=self.channels.known, redact=secrets.redact
        )
        self.worker: Worker | None = None
        self.timekeeper: Timekeeper | None = None
        self.compact: Compact | None = None  # of the agent, once there is one
        self.faults: tuple[Fault, ...] = ()
        self.skills = SkillBook(path, settings, store.view)
        self.file_limit = 0
        self._desk = Desk(
            store=store,
            clock=clock,
            view=self.view,
            artefacts=Artefacts(path / ".wakeful" / "artefacts"),
            wake=store.work.set,
            post=store.mail.set,
            stop=self.stop,
            tidy=self.tidy,
            mount=self.mounts.mount,
            addresses=self.addresses,
            settings=lambda: self.settings.model_dump(mode="json"),
            hide=secrets.hide,
        )

    def host(self, name: str) -> Host:
        """The daemon as the plug of this name sees it."""
        return PlugHost(name, self._desk)

    def addresses(self) -> Sequence[str]:
        return sorted(self.channels.known)

    async def channel_settings(self, plug: ChannelPlug) -> Any:
        """The plug's own settings, with every name of a secret replaced by the secret."""
        values = await self.secrets.resolve_tree(dict(plug.settings))
        return plug.module.Settings.model_validate(values)

    async def adopt(self, snapshot: Snapshot) -> None:
        """Make the running daemon follow the folder."""
        self._say_what_needs_a_restart(snapshot.settings)
        self.settings = snapshot.settings
        self.skills = SkillBook(self.path, snapshot.settings, self.store.view)
        self.courier.routes = snapshot.settings.alerts.route
        self._tell(snapshot.faults)
        if self.worker:
            self.worker.set_limits(worker_limits(snapshot.settings))
        if self.timekeeper:
            await self.keep_time(self.timekeeper, snapshot)
        await self.channels.sync(snapshot.channels)
        self.courier.wake()

    async def keep_time(self, keeper: Timekeeper, snapshot: Snapshot) -> None:
        """Go by the folder's schedules; one whose file cannot be read now is kept as it is."""
        keeper.handlers.alerts = tuple(snapshot.settings.alerts.route)
        await keeper.use(snapshot.schedules, kept=unread(snapshot.faults))

    async def stop(self, seq: int) -> bool:
        """Stop an event, running or not; False when it has ended already."""
        return await (self.worker or self.store).stop(seq)

    async def tidy(self) -> dict[str, int]:
        """Apply `[retention]`: rows first, then the files that nothing names any more."""
        retention = self.settings.retention
        kept = retention.model_dump(exclude={"artefacts"})
        counts = dict(await self.store.retain(RetentionPolicy(**kept), self.clock.now()))
        days = self._desk.artefacts.forget(retention.artefacts, now=self.clock.now())
        if self.compact is not None:
            counts["compacted"] = await compact_idle(self.store, self.compact, self.clock.now())
        return {**counts, "artefacts": await days}

    async def facts(self) -> dict[str, Any]:
        """What only the running daemon knows, for `status`."""
        breaker = self.worker.breaker if self.worker else None
        return {
            "pid": os.getpid(),
            "ready": self.ready(),
            "running": len(self.worker.running) if self.worker else 0,
            "public_url": self.settings.server.public_url,
            "outage": breaker.reason if breaker and breaker.open else None,
            "channels": self.channels.states(),
            "quarantined_skills": await self.skills.waiting(),
            "faults": [self.secrets.redact(str(fault)) for fault in self.faults],
        }

    def ready(self) -> bool:
        """Whether work is taken and run."""
        working = self.worker is not None and self.worker.alive
        return working and not self.store.db.stopped

    async def health(self) -> bool:
        """Go round once: through the store, the clock, the worker and the supply of descriptors."""
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                await self.store.probe()
        except Exception as error:
            log.error("The store does not answer: %s", error, extra={"action": "unhealthy"})
            return False
        left = files_left(self.file_limit) if self.file_limit > 0 else None
        if left is not None and left < OPEN_FILES_SPARE:
            log.error(
                "Only %d more files can be opened.", left, extra={"action": "few_descriptors"}
            )
            return False
        clock = self.timekeeper.probe() if self.timekeeper else None
        if clock is not None and not clock.ok:
            log.error("The clock stands still: %s", clock.detail, extra={"action": "unhealthy"})
            return False
        return self.worker is None or self.worker.alive

    def _say_what_needs_a_restart(self, new: Settings) -> None:
        for name in RESTART:
            if getattr(new, name) != getattr(self.settings, name):
                log.warning(
                    "`%s` of agent.toml has changed; restart the daemon to use it.",
                    name,
                    extra={"action": "restart_needed", "table": name},
                )

    def _channel_changed(self, name: str, opened: bool) -> None:
        if not opened:
            self.mounts.drop(name)
        self.courier.wake()

    async def _alarm(self, name: str, sentence: str) -> None:
        """Tell people, by another channel, of one that does not work."""
        notice = alarm(name, f"The {sentence}", self.settings.alerts.route)
        if notice is None:  # it stands on the page, in the log and in `status`
            return
        event = Event(
            source=name,
            keys=(f"{name}/alarm/{self.clock.now()}",),
            principal=f"channel:{name}",
            thread_key=f"channel/{name}",
            text="",
        )
        try:
            await self.store.announce(event, sentence, notice)
        except StoreBroken as error:
            log.error("Nobody could be told of it: %s", error, extra={"action": "alarm_lost"})

    def _tell(self, faults: tuple[Fault, ...]) -> None:
        """Log each fault once, when it appears, and say when it is gone."""
        for fault in faults:
            if fault not in self.faults:
                level = logging.WARNING if fault.warning else logging.ERROR
                log.log(level, "%s", fault, extra={"action": "folder_fault", "file": fault.file})
        if self.faults and not faults:
            log.info("The folder has no faults any more.", extra={"action": "folder_well"})
        self.faults = faults


def worker_limits(settings: Settings) -> Limits:
    """The settings that a worker keeps."""
    limits = settings.limits
    return Limits(
        concurrency=limits.concurrency,
        seconds=limits.seconds,
        attempts=limits.attempts,
        alerts=tuple(settings.alerts.route),
    )
