"""`write_todos`: the plan of a longer piece of work; the whole guidance is its description."""

from __future__ import annotations

from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.todo import PlanningState, Todo
from langchain.tools import InjectedToolCallId
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.types import Command
from pydantic import BaseModel

GUIDANCE = """Write down the plan of a longer piece of work and keep it up to date. The people you
work for see it.

Use it when the work has three or more real steps, when several things were asked for at once,
when a plan was asked for, or when you expect that what you find will change what comes next. Do
not use it for a question, a greeting or anything that one or two tool calls settle: then just do
it.

How:
- Each call replaces the whole list. Send every item, those that are finished too.
- An item is one outcome that can be checked ("Compare the three invoices"), not a mood
  ("Think").
- `status` is "pending", "in_progress" or "completed". Begin with the first item "in_progress";
  as long as anything is left, at least one item is. Several are when they really run side by
  side, such as sub-agents.
- Mark an item "completed" at once when it is done, not several at the end, and only when it is
  wholly done. If an error, a missing permission or a missing answer stops you, it stays
  "in_progress", and a new item says what is needed.
- Change the plan when you learn something: add what turned up, drop what nobody needs any more.
- Call it once in a message, never twice side by side: the second would replace the first.

The list is not the answer. When the work is done, write the answer itself as a message after the
last call."""


class Todos(BaseModel):
    """The whole list, in order."""

    todos: list[Todo]


class TodoListMiddleware(AgentMiddleware[PlanningState[Any], Any, Any]):
    """Adds `write_todos`; without prompt text and without a node of its own."""

    state_schema = PlanningState

    def __init__(self) -> None:
        super().__init__()
        self.tools = [
            StructuredTool.from_function(
                name="write_todos", description=GUIDANCE, coroutine=_write, args_schema=_Arguments
            )
        ]


class _Arguments(Todos):
    tool_call_id: Annotated[str, InjectedToolCallId]


async def _write(todos: list[Todo], tool_call_id: str) -> Command[Any]:
    done = sum(item["status"] == "completed" for item in todos)
    said = f"The list is kept: {done} of {len(todos)} done."
    return Command(
        update={"todos": todos, "messages": [ToolMessage(said, tool_call_id=tool_call_id)]}
    )
