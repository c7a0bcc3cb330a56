"""Summaries of long threads: when they are made, and how much of the thread stays as it was."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from deepagents.middleware.summarization import SummarizationMiddleware as _SummarizationMiddleware
from langchain.agents.middleware import SummarizationMiddleware as Helper
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, MessageLikeRepresentation
from langchain_core.runnables import RunnableConfig
from langgraph.constants import TAG_NOSTREAM

from wakeful.agent.current import current
from wakeful.agent.failures import Kind, flaw, kind_of
from wakeful.agent.hiding import hidden
from wakeful.events import Step

log = logging.getLogger(__name__)

TRIES = 2  # at one summary; then the thread goes on without one
PATIENCE = 120.0  # seconds for one of them
# Not a fault of this summary: the answer could not be had either, so the event waits or ends.
NOT_OURS: frozenset[Kind] = frozenset({"rate-limit", "outage", "auth", "quota", "setup"})
WITHOUT = (
    "There is no summary: it was tried, and {why}. {count} earlier messages are not shown here. "
    "Say that you do not have them in mind when it matters, and read the history if you need it."
)
UNSEEN: RunnableConfig = {  # nobody who watches the run sees a summary being written
    "metadata": {"lc_source": "summarization"},
    "tags": [TAG_NOSTREAM],
}
CHARS_PER_TOKEN = 4
MEDIA_TOKENS = 1_500  # what an image or a page costs, roughly
MESSAGE_TOKENS = 4  # role and separators
MOST_MESSAGES = (
    240  # a longer thread is summarised however short its messages: each costs time in every step
)
KEPT_MESSAGES = 120
KEPT_SHARE = 0.25  # of the context, as it was
PROFILE_SHARE = (
    0.85  # of the model's window; the rest is for the answer and for what we cannot count
)
ARGUMENTS = {"trigger": ("messages", 60), "keep": ("messages", 40), "max_length": 4_000}


class SummarizationMiddleware(_SummarizationMiddleware):
    """Summarises by size or by number of messages, and counts without converting anything."""

    def __init__(self, model: BaseChatModel, *, backend: Any, context: int) -> None:
        limit = trigger(model, context)
        super().__init__(
            model,
            backend=backend,
            trigger=[("tokens", limit), ("messages", MOST_MESSAGES)],
            keep=("tokens", max(int(limit * KEPT_SHARE), 1)),
            token_counter=count,
            trim_tokens_to_summarize=None,
            truncate_args_settings=ARGUMENTS,  # type: ignore[arg-type]
        )
        self._longest = max(int(limit * KEPT_SHARE), 1)  # tokens of a summary
        self._by_number = Helper(model=model, keep=("messages", KEPT_MESSAGES), token_counter=count)

    async def _acreate_summary(self, messages_to_summarize: list[AnyMessage]) -> str:
        """A summary that is whole, or a note that there is none: a thread never gets stuck here."""
        prompt, why = self._by_number._format_summary_prompt(messages_to_summarize), ""
        for _ in range(TRIES):
            try:
                said = await self._write(prompt, len(messages_to_summarize))
            except ContextOverflowError as error:
                why = "it was too long for the model"
                shorter = self._by_number._overflow_retry_prompt(messages_to_summarize)
                log.warning("No summary: %s", error, extra={"action": "summary_failed"})
                prompt = shorter or prompt
                continue
            except Exception as error:
                if kind_of(error) in NOT_OURS:
                    raise
                why = f"the model failed ({type(error).__name__})"
                log.warning("No summary: %s", error, extra={"action": "summary_failed"})
                continue
            why = self._wrong(said)
            if not why:
                return said.text.strip()
            log.warning("A summary was thrown away: %s", why, extra={"action": "summary_bad"})
        return WITHOUT.format(why=why, count=len(messages_to_summarize))

    async def _write(self, prompt: str, messages: int) -> AIMessage:
        """A summary costs a model call, so it is a line in the trail and a step of the run."""
        run = current()
        run.spent += 1
        started, ok = run.clock.now(), False
        try:
            async with asyncio.timeout(PATIENCE):
                said = hidden(await self.model.ainvoke(prompt, config=UNSEEN), run.hide)
            ok = not self._wrong(said)
            return said
        finally:
            run.steps.append(
                Step(
                    kind="model",
                    agent="summary",
                    name=self.model._llm_type,
                    started_at=started,
                    ended_at=run.clock.now(),
                    ok=ok,
                    summary=f"{messages} messages became one" if ok else "no summary came of it",
                )
            )

    def _wrong(self, said: AIMessage) -> str:
        """Why this is no summary; empty when it is one."""
        if count([said]) > self._longest:
            return "the summary was too long itself"
        return flaw(said) or ""

    def _determine_cutoff_index(self, messages: list[AnyMessage]) -> int:
        """The later of two cuts: by size, and by number."""
        by_size = super()._determine_cutoff_index(messages)
        if len(messages) < MOST_MESSAGES:
            return by_size
        return max(by_size, self._by_number._determine_cutoff_index(messages))


def trigger(model: BaseChatModel, context: int) -> int:
    """Tokens above which a thread is summarised: the settings', or less if the model takes less."""
    profile = getattr(model, "profile", None)
    window = profile.get("max_input_tokens") if isinstance(profile, dict) else None
    return min(context, int(window * PROFILE_SHARE)) if isinstance(window, int) else context


def count(messages: Iterable[MessageLikeRepresentation], tools: Any = None) -> int:
    """Tokens of messages, estimated; cheap enough to be asked before every model call."""
    return sum(_tokens(message) for message in messages)


def _tokens(message: Any) -> int:
    content = message.content
    text = isinstance(content, str)
    chars = len(content) if text else sum(_block(block) for block in content)
    for call in getattr(message, "tool_calls", ()):
        chars += sum(len(str(value)) + len(key) for key, value in call["args"].items()) + 20
    return chars // CHARS_PER_TOKEN + MESSAGE_TOKENS


def _block(block: Any) -> int:
    if isinstance(block, str):
        return len(block)
    text = block.get("text")
    return len(text) if isinstance(text, str) else MEDIA_TOKENS * CHARS_PER_TOKEN
