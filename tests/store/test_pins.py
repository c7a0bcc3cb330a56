"""What a person has accepted."""

from __future__ import annotations

from tests.store.conftest import HandClock
from wakeful.store import Store, pinned


async def test_the_last_version_that_was_accepted_counts(store: Store, clock: HandClock) -> None:
    await store.pin("skill", "install", "one", by="console:operator")
    first = (await pinned(store.view, "skill"))["install"]
    clock.move(60)
    await store.pin("skill", "install", "two", by="slack:T1:U7")
    await store.pin("tool", "install", "three", by="console:operator")
    assert first["digest"] == "one" and first["at"].endswith("Z")
    second = (await pinned(store.view, "skill"))["install"]
    assert (second["digest"], second["by"]) == ("two", "slack:T1:U7")
    assert second["at"] > first["at"]


async def test_every_acceptance_stays_in_the_audit(store: Store) -> None:
    await store.pin("skill", "install", "one", by="console:operator")
    await store.pin("skill", "install", "two", by="slack:T1:U7")
    rows = await store.db.run(
        lambda s: s.raw.execute(
            "SELECT principal, action, subject, detail FROM audit ORDER BY id"
        ).fetchall()
    )
    assert [list(row.values()) if isinstance(row, dict) else list(row) for row in rows] == [
        ["console:operator", "skill_accepted", "install", "one"],
        ["slack:T1:U7", "skill_accepted", "install", "two"],
    ]
