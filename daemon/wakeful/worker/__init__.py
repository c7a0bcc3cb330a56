"""Inbox -> agent -> outbox: claims what is ready, runs it, and records how it ended."""

from wakeful.worker.agent import Agent, Emit, Limits
from wakeful.worker.breaker import Breaker
from wakeful.worker.dispatch import Worker

__all__ = ["Agent", "Breaker", "Emit", "Limits", "Worker"]
