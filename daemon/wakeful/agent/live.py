"""The live context: who the agent is, what it can and what it remembers, new at each model call.

Nothing of it is stored in a checkpoint: an edit reaches threads that exist, and costs them nothing.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from langchain_core.messages import AnyMessage, HumanMessage

from wakeful.agent.current import Run
from wakeful.errors import WakefulError
from wakeful.plugs import Snapshot
from wakeful.skill import Skill
from wakeful.skills import index as skill_index
from wakeful.skills.trust import Pins, shown

log = logging.getLogger(__name__)

LIBRARY = "/.library/"  # where the installed skills lie in the agent's file tools
OVERFLOW = "/.overflow"  # large results and old history, off the workspace's root
ATTACHMENTS = "attachments"  # key in additional_kwargs of a message that came with images
IMAGES_LIMIT = (
    8  # the newest images that are shown again at each call; older ones stay in the workspace
)

MEMORY_LIMIT = 200  # lines, the newest

HOUSE = f"""Your file tools work in a workspace of your own that lasts; `{LIBRARY}` holds the
installed skills, read-only. You are reached through a daemon: whoever wrote gets the text of your
last message and nothing else, so put the whole answer there."""


class Artefacts(Protocol):
    async def read_artefact(self, id: str) -> bytes: ...


class Live:
    """What one agent is told. `prompt`: a sub-agent's own text; without one it is AGENTS.md."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        pins: Callable[[], Pins],
        artefacts: Artefacts | None,
        *,
        zone: str = "UTC",
        prompt: str | None = None,
    ) -> None:
        self._snapshot, self._pins, self._artefacts = snapshot, pins, artefacts
        self._zone, self._prompt = ZoneInfo(zone), prompt
        self._key: tuple[Any, ...] = ()
        self._text = ""
        self._images: dict[str, dict[str, Any]] = {}

    def system(self, run: Run) -> str:
        snapshot = self._snapshot()
        day = datetime.fromtimestamp(run.clock.now() / 1000, UTC).astimezone(self._zone).date()
        skills = shown(snapshot.skills, self._pins())
        key = (snapshot.agents_md, skills, run.memory, day)
        if key != self._key:
            self._key, self._text = key, self._compose(snapshot, skills, run.memory, day)
        return self._text

    def _compose(
        self, snapshot: Snapshot, skills: Sequence[Skill], memory: Sequence[str], day: Any
    ) -> str:
        own = self._prompt if self._prompt is not None else snapshot.agents_md
        parts = [own.strip(), HOUSE]
        parts.append(skill_index(skills, LIBRARY))
        if memory and self._prompt is None:
            lines = "\n".join(f"- {line}" for line in memory[-MEMORY_LIMIT:])
            parts.append(f"What you remember about the person you talk to:\n{lines}")
        parts.append(f"Today is {day:%A}, {day.isoformat()} ({self._zone.key}).")
        return "\n\n".join(part for part in parts if part)

    async def hydrate(self, messages: list[AnyMessage]) -> list[AnyMessage]:
        """Put the newest images into the messages that they came with."""
        if self._artefacts is None or not any(ATTACHMENTS in m.additional_kwargs for m in messages):
            return messages
        left, shown = IMAGES_LIMIT, list(messages)
        for index in range(len(shown) - 1, -1, -1):
            wanted = shown[index].additional_kwargs.get(ATTACHMENTS, ())[:left]
            if wanted and isinstance(shown[index], HumanMessage):
                shown[index] = await self._with_images(shown[index], wanted)
                left -= len(wanted)
        return shown

    async def _with_images(self, message: AnyMessage, wanted: Sequence[Any]) -> AnyMessage:
        blocks: list[Any] = [{"type": "text", "text": message.text}]
        for one in wanted:
            block = await self._image(one)
            blocks.append(
                block or {"type": "text", "text": f"[{one['name']} is not there any more]"}
            )
        return message.model_copy(update={"content": blocks})

    async def _image(self, one: dict[str, Any]) -> dict[str, Any] | None:
        found = self._images.get(one["artefact"])
        if found is None and self._artefacts is not None:
            try:
                data = await self._artefacts.read_artefact(one["artefact"])
            except (OSError, WakefulError) as error:
                log.warning("An image could not be read: %s", error, extra={"action": "image_lost"})
                return None
            text = base64.b64encode(data).decode()
            found = {"type": "image", "base64": text, "mime_type": one["media_type"]}
            while len(self._images) >= IMAGES_LIMIT:
                self._images.pop(next(iter(self._images)))
            self._images[one["artefact"]] = found
        return found
