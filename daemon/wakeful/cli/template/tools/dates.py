"""Tools of this agent: every public function is one; its docstring tells the model about it."""

from __future__ import annotations

from datetime import date

from wakeful.tool import tool


@tool(effect="read")
def days_until(day: str) -> str:
    """Count the days from today to a date.

    Args:
        day: the date, written as 2027-03-14.
    """
    days = (date.fromisoformat(day) - date.today()).days
    return f"{days} day until {day}" if days == 1 else f"{days} days until {day}"
