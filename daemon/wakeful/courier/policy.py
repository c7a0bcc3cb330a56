"""The one policy for deliveries: how often, how far apart, and when to give up."""

from __future__ import annotations

from dataclasses import dataclass, field

from wakeful.backoff import Backoff


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Retry-After is obeyed up to `longest`; after `attempts` a reply is dead."""

    attempts: int = 16  # about three hours with the delays below
    backoff: Backoff = field(default=Backoff(first=1.0, cap=900.0))
    longest: float = 3300.0  # seconds; a Retry-After beyond it is asked about once an hour
    timeout: float = 60.0  # seconds for one send or one look-up
    at_once: int = 64  # deliveries in flight
    per_channel: int = 16  # of them by one channel, so that one that hangs leaves room

    def gives_up(self, attempts: int) -> bool:
        return attempts >= self.attempts

    def pause(self, attempts: int, asked: float | None) -> float:
        """Seconds until the next attempt after this many."""
        wanted = None if asked is None else min(max(asked, 0.0), self.longest)
        return self.backoff.after(attempts, asked=wanted)
