"""Where threads ended, in memory, so that a busy thread goes on without reading the store."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import CheckpointTuple

LIMIT = 8_000_000  # characters of all threads together
MESSAGE = 2_500  # what a message weighs beside its text


@dataclass(slots=True)
class Head:
    """Where a thread ended, under which claim; only the very next claim may go on from it."""

    fence: int
    tuple: CheckpointTuple
    messages: list[BaseMessage]


class Heads:
    """The heads of the threads that ended last."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit, self._weight = limit, 0
        self._heads: OrderedDict[str, tuple[Head, int]] = OrderedDict()

    def get(self, thread_id: str) -> Head | None:
        found = self._heads.get(thread_id)
        return found and found[0]

    def keep(self, thread_id: str, head: Head) -> None:
        self.drop(thread_id)
        weight = sum(MESSAGE + _size(message.content) for message in head.messages)
        self._heads[thread_id] = (head, weight)
        self._weight += weight
        while self._weight > self._limit and len(self._heads) > 1:
            self.drop(next(iter(self._heads)))

    def drop(self, thread_id: str) -> None:
        _, weight = self._heads.pop(thread_id, (None, 0))
        self._weight -= weight


def _size(value: object) -> int:
    """Characters, those of images included."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 0
