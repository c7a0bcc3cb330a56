"""What can be seen of the store, as plain JSON values with RFC 3339 times."""

from __future__ import annotations

from wakeful.store.part import Part


class Views(Part):
    pass
