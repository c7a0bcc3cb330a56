"""What the operator may start beyond the API that channels have."""

from __future__ import annotations

from typing import Protocol


class Operations(Protocol):
    """Commands of the CLI that a running daemon carries out; both return the new event."""

    async def run_schedule(self, name: str) -> int:
        """Fire a schedule now. Raises Unknown."""
        ...

    async def replay(self, seq: int) -> int:
        """Accept an event's input once more, as a new event. Raises Unknown or Refused."""
        ...
