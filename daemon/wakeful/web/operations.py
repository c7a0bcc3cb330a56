"""What the operator may start beyond the API that channels have."""

from __future__ import annotations

from typing import Any, Protocol


class Operations(Protocol):
    """Commands of the CLI that a running daemon carries out."""

    async def run_schedule(self, name: str) -> int:
        """Fire a schedule now; its new event. Raises Unknown."""
        ...

    async def replay(self, seq: int) -> int:
        """Accept an event's input once more, as a new event. Raises Unknown or Refused."""
        ...

    async def skills(self) -> list[dict[str, Any]]:
        """Every skill and every draft, those first that wait for a person."""
        ...

    async def skill(self, name: str) -> dict[str, Any]:
        """One of them with its diff. Raises Unknown or Refused."""
        ...

    async def accept_skill(self, name: str, digest: str) -> dict[str, Any]:
        """Let the version of this digest be used. Raises Unknown, Stale or Refused."""
        ...
