"""Around every model call of every agent: the live context, the limits, a look at the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage

from wakeful.agent.current import Run, current
from wakeful.agent.hiding import hidden
from wakeful.agent.ids import with_own_ids
from wakeful.events import Step

Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]

MARK = "wakeful"  # key in response_metadata of messages that we wrote for the model
LIMIT = "limit"
SUMMARY = 500  # characters of an answer in the trail
EMPTY_RETRIES = 1


class Context(Protocol):
    """What an agent is told before each call; read anew each time, and stored nowhere."""

    def system(self, run: Run) -> str: ...
    async def hydrate(self, messages: list[AnyMessage]) -> list[AnyMessage]: ...


class Thinking(AgentMiddleware[Any, Any, Any]):
    """The middleware of one agent's model calls."""

    def __init__(self, agent: str, context: Context, *, steps: int) -> None:
        super().__init__()
        self._agent, self._context, self._steps = agent, context, steps
        self._system: SystemMessage | None = None

    @property
    def name(self) -> str:
        return "Thinking"

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> Any:
        run = current()
        run.check_lease()
        if run.spent >= self._steps:
            return ModelResponse(result=[out_of_steps(self._steps)])
        request = request.override(
            system_message=self._told(run), messages=await self._context.hydrate(request.messages)
        )
        response = await self._ask(run, request, handler)
        for _ in range(EMPTY_RETRIES):
            if not _is_empty(response):
                break
            response = await self._ask(run, request, handler)
        return _kept(response, run, request.state["messages"])

    def _told(self, run: Run) -> SystemMessage:
        text = run.hide(self._context.system(run))
        if self._system is None or self._system.content != text:
            self._system = SystemMessage(text)
        return self._system

    async def _ask(self, run: Run, request: ModelRequest[Any], handler: Handler) -> Any:
        run.spent += 1
        started = run.clock.now()
        answer: AIMessage | None = None
        try:
            response = await handler(request)
            if (said := answer_in(response)) is not None:
                answer = hidden(said, run.hide)
            return response
        finally:
            usage: Any = (answer.usage_metadata if answer is not None else None) or {}
            run.steps.append(
                Step(
                    kind="model",
                    agent=self._agent,
                    name=_model_name(request, answer),
                    started_at=started,
                    ended_at=run.clock.now(),
                    tokens_in=usage.get("input_tokens", 0),
                    tokens_out=usage.get("output_tokens", 0),
                    ok=answer is not None,
                    summary=_summary(answer),
                )
            )


def out_of_steps(steps: int) -> AIMessage:
    text = (
        f"I stopped here: this run has used its {steps} steps ([limits] steps). "
        "What was done until now stays done; write again to let me go on."
    )
    return AIMessage(text, response_metadata={MARK: LIMIT})


def answer_in(response: Any) -> AIMessage | None:
    inner = getattr(response, "model_response", response)
    result = inner.result if isinstance(inner, ModelResponse) else [inner]
    return next((m for m in result if isinstance(m, AIMessage)), None)


def _kept(response: Any, run: Run, before: Sequence[AnyMessage]) -> Any:
    """What the model wrote as it is kept: without secrets, and with ids of its own."""
    inner = getattr(response, "model_response", response)
    if isinstance(inner, ModelResponse):
        inner.result = [with_own_ids(hidden(said, run.hide), before) for said in inner.result]
    return response


def _is_empty(response: Any) -> bool:
    answer = answer_in(response)
    return answer is None or not (
        answer.tool_calls or answer.invalid_tool_calls or answer.text.strip()
    )


def _summary(answer: AIMessage | None) -> str:
    if answer is None:
        return "failed"
    calls = ", ".join(call["name"] for call in answer.tool_calls)
    return f"calls {calls}" if calls else answer.text[:SUMMARY]


def _model_name(request: ModelRequest[Any], answer: AIMessage | None) -> str:
    said = (answer.response_metadata if answer is not None else {}).get("model_name")
    return str(
        said
        or getattr(request.model, "model_name", "")
        or getattr(request.model, "model", "")
        or request.model._llm_type
    )
