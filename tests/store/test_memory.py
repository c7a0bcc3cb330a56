"""What is remembered beyond a conversation."""

from __future__ import annotations

from tests.store.conftest import HandClock
from wakeful.store import Store


async def test_a_line_is_remembered_once_in_the_order_of_its_events(
    store: Store, clock: HandClock
) -> None:
    assert await store.remember("ann", "k2", "likes tea", event_seq=2)
    assert await store.remember("ann", "k1", "lives in Kiel", event_seq=1, untrusted=True)
    assert not await store.remember("ann", "k1", "another text", event_seq=3)
    await store.remember("bob", "k1", "else", event_seq=1)
    rows = await store.memory("ann")
    assert [(row.text, row.untrusted) for row in rows] == [
        ("lives in Kiel", True),
        ("likes tea", False),
    ]
    assert await store.forget("ann", "k1")
    assert not await store.forget("ann", "k1")
    assert [row.text for row in await store.memory("ann")] == ["likes tea"]
