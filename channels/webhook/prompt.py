"""What the agent is told of a delivery."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .settings import Settings
from .templates import TemplateFailed, render

PAYLOAD_CHARACTERS = 20_000
THREAD_CHARACTERS = 600
KIND_HEADERS = ("x-github-event", "x-gitlab-event", "x-gitea-event", "x-forgejo-event")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Words:
    """The rendered templates."""

    prompt: str
    thread: str
    id: str


def compose(hook: str, settings: Settings, payload: Any, headers: Mapping[str, str]) -> Words:
    """Fill in the templates; one that fails is replaced and named, so that nothing is lost."""
    values = {"payload": payload, "headers": headers}
    notes: list[str] = []

    def filled(name: str, text: str, values: Mapping[str, Any], limit: int) -> str:
        try:
            return render(text, values, limit=limit) if text else ""
        except TemplateFailed as error:
            message = "The template `%s` of the hook %s failed: %s"
            log.warning(message, name, hook, error, extra={"action": "template_failed"})
            notes.append(f"(The template `{name}` of the hook {hook} failed: {error})")
            return ""

    thread = filled("thread", settings.thread, values, THREAD_CHARACTERS)
    id = filled("id", settings.id, {"payload": payload}, THREAD_CHARACTERS)
    prompt = filled("prompt", settings.prompt, values, 100_000)
    if not prompt.strip():
        prompt = plain(hook, payload, headers)
    return Words(clean("\n\n".join([prompt, *notes])), clean(thread).strip(), clean(id).strip())


def plain(hook: str, payload: Any, headers: Mapping[str, str]) -> str:
    """The payload itself, where no template says more."""
    kind = next((headers[name] for name in KIND_HEADERS if name in headers), "")
    text = json.dumps(payload, indent=1, ensure_ascii=False)
    if len(text) > PAYLOAD_CHARACTERS:
        text = f"{text[:PAYLOAD_CHARACTERS]}\n[... cut here; {len(text):,} characters in all]"
    what = f"The hook {hook} was called" + (f" ({kind})." if kind else ".")
    return f"{what} Its payload:\n\n{text}"


def clean(text: str) -> str:
    """Text that every store can hold: no NUL, no half of a surrogate pair."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
