"""The scripted model as LangChain sees it. `wakeful.agent.models` loads it by name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from wakeful.rehearsal.faults import hang_for, raise_for
from wakeful.rehearsal.reading import read
from wakeful.rehearsal.script import MAIN, Move, Script
from wakeful.rehearsal.speech import Conversation, answer, chunks

SUMMARY = "summary"  # what a script calls the agent that summarises


class Rehearsal(BaseChatModel):
    """A model that plays a script: deterministic, without any key or network."""

    script: str | None = None  # path of the script; none: the one that ships
    pace: float = 0.0  # seconds between two pieces of a streamed answer
    _script: Script = PrivateAttr()
    _seen: float = PrivateAttr(default=0.0)  # mtime of the script that is loaded

    def model_post_init(self, context: Any, /) -> None:
        self._seen = self._changed()
        self._script = read(Path(self.script) if self.script else None)

    @property
    def _llm_type(self) -> str:
        return "rehearsal"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return {"ls_provider": "wakeful", "ls_model_name": "rehearsal", "ls_model_type": "chat"}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Tools need no schema here: the script knows what it calls."""
        return self.bind(**kwargs)

    def next(self, messages: Sequence[BaseMessage], metadata: dict[str, Any]) -> Move:
        """What the script says now; a script that was edited is read again first."""
        changed = self._changed()
        if changed != self._seen:
            self._script, self._seen = read(Path(self.script or "")), changed
        return self._script.next(Conversation(messages), self._agent(metadata))

    def _agent(self, metadata: dict[str, Any]) -> str:
        if metadata.get("lc_source") == "summarization":
            return SUMMARY
        name = metadata.get("lc_agent_name")
        return name if name in self._script.agents or name == "general-purpose" else MAIN

    def _changed(self) -> float:
        try:
            return Path(self.script).stat().st_mtime if self.script else 0.0
        except OSError:
            return 0.0  # reading it says what is wrong

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        move = self.next(messages, _metadata(run_manager))
        await asyncio.sleep(move.wait)
        await hang_for(move.fail)
        raise_for(move.fail)
        return ChatResult(generations=[ChatGeneration(message=answer(move, messages))])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        move = self.next(messages, dict(run_manager.metadata) if run_manager else {})
        raise_for(move.fail)
        return ChatResult(generations=[ChatGeneration(message=answer(move, messages))])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        move = self.next(messages, _metadata(run_manager))
        await asyncio.sleep(move.wait)
        await hang_for(move.fail)
        raise_for(move.fail)
        for chunk in chunks(move, messages):
            await asyncio.sleep(self.pace)
            generation = ChatGenerationChunk(message=chunk)
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=generation)
            yield generation


def _metadata(run_manager: AsyncCallbackManagerForLLMRun | None) -> dict[str, Any]:
    """Who asks. While tokens are watched the graph hands no run manager over, only its context."""
    known = dict(ensure_config().get("metadata") or {})
    return known | (run_manager.metadata if run_manager else {})
