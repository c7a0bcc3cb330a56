"""All SQL of the daemon: `open_store` for the one that writes, `open_reader` for who looks."""

from __future__ import annotations

from wakeful.store.claims import Claims
from wakeful.store.effects import EffectRow
from wakeful.store.firings import FiringRow
from wakeful.store.lock import holder
from wakeful.store.memory import MemoryRow
from wakeful.store.pins import pinned
from wakeful.store.query import Query, Session
from wakeful.store.retention import RetentionPolicy
from wakeful.store.schedules import ScheduleRow
from wakeful.store.stopping import STOPPED
from wakeful.store.store import Store, open_reader, open_store
from wakeful.store.view import Views

__all__ = [
    "STOPPED",
    "Claims",
    "EffectRow",
    "FiringRow",
    "MemoryRow",
    "Query",
    "RetentionPolicy",
    "ScheduleRow",
    "Session",
    "Store",
    "Views",
    "holder",
    "open_reader",
    "open_store",
    "pinned",
]
