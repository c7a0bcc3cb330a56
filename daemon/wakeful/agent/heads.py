"""Where threads ended, in memory, so that a busy thread goes on without reading the store."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import CheckpointTuple

MESSAGES_LIMIT = 20_000  # of all threads together


@dataclass(slots=True)
class Head:
    """Where a thread ended, under which claim; only the very next claim may go on from it."""

    fence: int
    tuple: CheckpointTuple
    messages: list[BaseMessage]


class Heads:
    """The heads of the threads that ended last."""

    def __init__(self, limit: int = MESSAGES_LIMIT) -> None:
        self._limit, self._messages = limit, 0
        self._heads: OrderedDict[str, Head] = OrderedDict()

    def get(self, thread_id: str) -> Head | None:
        return self._heads.get(thread_id)

    def keep(self, thread_id: str, head: Head) -> None:
        self.drop(thread_id)
        self._heads[thread_id] = head
        self._messages += len(head.messages)
        while self._messages > self._limit and len(self._heads) > 1:
            self.drop(next(iter(self._heads)))

    def drop(self, thread_id: str) -> None:
        head = self._heads.pop(thread_id, None)
        if head is not None:
            self._messages -= len(head.messages)
