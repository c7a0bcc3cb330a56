"""Stand-ins for default middleware: the same name, and no graph node.

Every node is a superstep and a checkpoint row. What these defaults do in a node of their own is
done elsewhere: dangling calls are closed before a message is added, and no parent waits for news.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from deepagents.middleware.unsupported_content import (
    UnsupportedContentMiddleware as _UnsupportedContentMiddleware,
)
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
SCHEMAS_LIMIT = 64  # sets of tools


class Quiet(AgentMiddleware[Any, Any, Any]):
    """Takes the place of a default middleware and does nothing."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def name(self) -> str:
        return self._name


class UnsupportedContentMiddleware(_UnsupportedContentMiddleware[Any, Any]):
    """The last stop before the model: what it cannot read becomes a notice, tools become schemas.

    The default looks into every message; here one look at its type passes plain text. Schemas are
    converted once per set of tools instead of once per call.
    """

    def __init__(self) -> None:
        super().__init__()
        self._schemas: dict[tuple[str, ...], list[BaseTool | dict[str, Any]]] = {}

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> Any:
        messages = self._fitting(request.messages, request.model)
        tools = self._converted(request.tools, request.model)
        if messages is not request.messages or tools is not request.tools:
            request = request.override(messages=messages, tools=tools)
        return await handler(request)

    def _fitting(self, messages: list[AnyMessage], model: BaseChatModel) -> list[AnyMessage]:
        if all(isinstance(message.content, str) for message in messages):
            return messages
        return [
            self._filter_message(message, model=model)
            if isinstance(message, (HumanMessage, ToolMessage))
            and not isinstance(message.content, str)
            else message
            for message in messages
        ]

    def _converted(
        self, tools: list[BaseTool | dict[str, Any]], model: BaseChatModel
    ) -> list[BaseTool | dict[str, Any]]:
        if type(model).__module__.startswith("langchain_anthropic"):
            return tools  # its caching marks the tool objects themselves
        if any(isinstance(tool, dict) for tool in tools):
            return tools
        key = tuple(tool.name for tool in tools if isinstance(tool, BaseTool))
        found = self._schemas.get(key)
        if found is None:
            if len(self._schemas) >= SCHEMAS_LIMIT:
                self._schemas.clear()
            found = self._schemas[key] = [convert_to_openai_tool(tool) for tool in tools]
        return found
