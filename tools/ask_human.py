"""Ask a person something, and wait for the answer."""

from __future__ import annotations

from wakeful.errors import Ask
from wakeful.tool import tool


# The daemon puts the question and gives the answer as this call's result; this body is for a
# place where nobody can be asked.
@tool(effect="read")
async def ask_human(question: str, options: list[str] | None = None) -> str:
    """Ask the person you work for one question, and wait for the answer: hours, or days.

    Use it when you cannot go on without a decision or a fact that only they have. Ask everything
    in one question. What can wait for the end belongs into your answer instead.

    Args:
        question: the whole question, understandable by itself.
        options: answers to choose from, when there are few; they may still answer otherwise.
    """
    raise Ask(question, {"options": ", ".join(options)} if options else None)
