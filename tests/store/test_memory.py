"""What is kept beside conversations."""

from __future__ import annotations

from tests.store.conftest import HandClock
from wakeful.store import ArtefactRow, Store


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


async def test_an_artefact_is_described_once(store: Store) -> None:
    row = ArtefactRow(
        id="x1", name="a.png", media_type="image/png", size=3, digest="d", created_at=5
    )
    await store.keep_artefact(row)
    await store.keep_artefact(row)
    assert await store.artefact("x1") == row
    assert await store.artefact("x2") is None


async def test_a_pin_is_the_version_that_a_person_saw_last(store: Store) -> None:
    assert await store.pinned("skill", "triage") is None
    await store.pin("skill", "triage", "d1", by="console:operator")
    await store.pin("skill", "triage", "d2", by="console:operator")
    assert await store.pinned("skill", "triage") == "d2"
