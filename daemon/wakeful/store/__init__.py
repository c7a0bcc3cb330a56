"""All SQL of the daemon. `open_store` is for the one that writes, `open_reader` for those that only look."""

from __future__ import annotations

from wakeful.store.claims import Claims
from wakeful.store.effects import EffectRow
from wakeful.store.firings import FiringRow
from wakeful.store.lock import holder
from wakeful.store.memory import ArtefactRow, MemoryRow
from wakeful.store.query import Query, Session
from wakeful.store.schedules import ScheduleRow
from wakeful.store.store import Store, open_reader, open_store

__all__ = [
    "ArtefactRow",
    "Claims",
    "EffectRow",
    "FiringRow",
    "MemoryRow",
    "Query",
    "ScheduleRow",
    "Session",
    "Store",
    "holder",
    "open_reader",
    "open_store",
]
