"""What is forgotten, and when: the store stays as large as what is still needed."""

from __future__ import annotations

from wakeful.store.part import Part


class Retaining(Part):
    pass
