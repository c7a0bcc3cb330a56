from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.web.conftest import Site
from wakeful.errors import StoreBroken, StoreFull
from wakeful.events import Accepted, Event


async def post(client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    return await client.post("/api/messages", json=body)


async def test_a_message_is_accepted(site: Site, client: httpx.AsyncClient) -> None:
    answer = await post(client, text="hello", thread="console/ann", id="m-1")
    assert answer.status_code == 202
    assert answer.json() == {"event": 1, "thread": "console/ann", "duplicate": False}
    [event] = await site.events()
    assert (event.source, event.keys, event.principal) == (
        "console",
        ("console/m-1",),
        "console:operator",
    )
    assert (event.channel, event.address, event.text) == ("console", "console:ann", "hello")
    assert not event.untrusted and not event.fresh


async def test_the_same_id_is_the_same_message(client: httpx.AsyncClient) -> None:
    first = await post(client, text="hello", thread="console/ann", id="m-1")
    second = await post(client, text="hello", thread="console/ann", id="m-1")
    assert second.status_code == 202
    assert second.json() == {**first.json(), "duplicate": True}


async def test_without_a_thread_there_is_a_new_one(client: httpx.AsyncClient) -> None:
    keys = {(await post(client, text="hi")).json()["thread"] for _ in range(3)}
    assert len(keys) == 3 and all(key.startswith("console/") for key in keys)


async def test_new_in_front_starts_afresh(site: Site, client: httpx.AsyncClient) -> None:
    await post(client, text="/new where were we?", thread="console/a")
    await post(client, text="/newer is not a command", thread="console/a")
    assert [(e.fresh, e.text) for e in await site.events()] == [
        (True, "where were we?"),
        (False, "/newer is not a command"),
    ]


async def test_only_who_watches_pays_for_streaming(site: Site, client: httpx.AsyncClient) -> None:
    await post(client, text="hi")
    await client.post("/api/messages", json={"text": "hi"}, headers={"wakeful-live": "1"})
    assert [event.data.get("live") for event in await site.events()] == [None, True]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": "  \n"},
        {"text": 1},
        {"text": "x" * 200_001},
        {"text": "nul \0"},
        {"text": "hi", "thread": "slack/T1"},
        {"text": "hi", "thread": "console/"},
        {"text": "hi", "thread": "console/../x"},
        {"text": "hi", "thread": "console/a b"},
        {"text": "hi", "thread": "console/a\n"},
        {"text": "hi", "thread": 7},
        {"text": "hi", "id": ""},
        {"text": "hi", "id": "a b"},
        {"text": "hi", "id": 3},
        {"text": "hi", "principal": "slack:T1:U1"},
        [],
        "text",
        None,
    ],
)
async def test_a_wrong_message_is_refused_in_a_sentence(
    site: Site, client: httpx.AsyncClient, body: Any
) -> None:
    answer = await client.post("/api/messages", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")
    assert await site.events() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"text": "\\ud800"}',
        b'{"text": NaN}',
        b'{"text": "a", "text": 1}',
        b"[" * 100_000,
        b'{"text":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"text": "hi", "id": ' + b'{"a":' * 60 + b"1" + b"}" * 60 + b"}",
        b"1" * 10_000,
    ],
)
async def test_W9_what_is_no_json_is_a_400(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post("/api/messages", content=body)
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize(("error", "status"), [(StoreFull(), 507), (StoreBroken(), 503)])
async def test_a_store_that_cannot_is_told(
    site: Site, client: httpx.AsyncClient, error: Exception, status: int
) -> None:
    async def accept(event: Event) -> Accepted:
        raise error

    site.host.accept = accept  # type: ignore[method-assign]
    answer = await post(client, text="hi")
    assert answer.status_code == status
    assert answer.json()["error"] == str(error)


async def test_a_crash_is_a_500_without_details(site: Site, client: httpx.AsyncClient) -> None:
    async def accept(event: Event) -> Accepted:
        raise RuntimeError("secret detail")

    site.host.accept = accept  # type: ignore[method-assign]
    answer = await post(client, text="hi")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text


async def test_events_and_threads_can_be_read(client: httpx.AsyncClient) -> None:
    await post(client, text="hello", thread="console/ann")
    event = (await client.get("/api/events/1")).json()
    assert event == {
        "state": "queued",
        "thread": "console/ann",
        "reply": None,
        "error": None,
        "merged_into": None,
    }
    threads = (await client.get("/api/threads")).json()["threads"]
    assert [row["key"] for row in threads] == ["console/ann"]
    thread = (await client.get("/api/thread", params={"key": "console/ann"})).json()
    assert thread["key"] == "console/ann" and thread["state"] == "ready"
    [message] = thread["messages"]
    assert (message["role"], message["text"], message["event"]) == ("user", "hello", 1)
    assert message["at"] == "2027-01-15T08:00:00.000Z"


@pytest.mark.parametrize(
    "path",
    [
        "/api/events/99",
        "/api/events/99999999999999999999999999",
        "/api/events/" + "9" * 5000,
        "/api/events/x",
        "/api/events/-1",
        "/api/events/%D9%A1",
        "/api/events/99/stream",
        "/api/thread?key=nope",
        "/api/thread",
        "/api/runs/99",
        "/api/nothing",
        "/nothing",
        "/static/../auth.py",
        "/static/nothing.js",
    ],
)
async def test_what_is_not_there_is_a_404(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=1001", "before=-1", "limit=٣"])
async def test_a_wrong_number_is_a_400(client: httpx.AsyncClient, query: str) -> None:
    assert (await client.get(f"/api/thread?key=a&{query}")).status_code == 400


async def test_a_wrong_method_says_so(client: httpx.AsyncClient) -> None:
    answer = await client.delete("/api/messages")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    assert "DELETE" in answer.json()["error"]


async def test_what_has_ended_cannot_be_stopped(site: Site, client: httpx.AsyncClient) -> None:
    await site.ran("hi", "console/a", "hello")
    assert (await client.post("/api/events/1/stop")).json() == {"stopped": False}
    assert (await client.post("/api/events/2/stop")).status_code == 404


async def decide(client: httpx.AsyncClient, id: str = "w1", **body: Any) -> httpx.Response:
    return await client.post(f"/api/waits/{id}", json={"digest": "d1", **body})


async def test_a_wait_is_seen_and_decided(site: Site, client: httpx.AsyncClient) -> None:
    await site.asks("w1", args={"order": "A-1001"})
    [wait] = (await client.get("/api/waits")).json()["waits"]
    assert wait["id"] == "w1" and wait["args"] == {"order": "A-1001"} and wait["digest"] == "d1"
    answer = await decide(client, decision="approve")
    assert answer.status_code == 200 and answer.json()["state"] == "decided"
    assert answer.json()["decision"]["by"] == "console:operator"
    assert (await client.get("/api/waits")).json() == {"waits": []}
    assert len((await client.get("/api/waits?state=all")).json()["waits"]) == 1
    assert (await client.get("/api/waits?state=x")).status_code == 400


async def test_a_stale_or_late_decision_changes_nothing(
    site: Site, client: httpx.AsyncClient
) -> None:
    await site.asks("w1")
    assert (await decide(client, decision="approve", digest="d0")).status_code == 409
    assert (await decide(client, "w2", decision="approve")).status_code == 404
    assert (await decide(client, decision="reject", reason="no")).status_code == 200
    answer = await decide(client, decision="approve")
    assert answer.status_code == 409 and "closed" in answer.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "maybe"},
        {"decision": ["approve"]},
        {"decision": "approve", "digest": None},
        {"decision": "approve", "args": {}},
        {"decision": "edit"},
        {"decision": "edit", "args": []},
        {"decision": "answer"},
        {"decision": "reject", "reason": 1},
        {"decision": "approve", "by": "slack:T1:U1"},
    ],
)
async def test_a_wrong_decision_is_a_400(
    site: Site, client: httpx.AsyncClient, body: dict[str, Any]
) -> None:
    await site.asks("w1")
    assert (await decide(client, **body)).status_code == 400
    assert len(await site.host.view.waits()) == 1


async def test_commands_of_the_cli(site: Site, client: httpx.AsyncClient) -> None:
    await post(client, text="hi")
    assert (await client.post("/api/events/1/replay")).status_code == 501

    class Commands:
        async def run_schedule(self, name: str) -> int:
            return 7

        async def replay(self, seq: int) -> int:
            return seq + 1

        async def skills(self) -> list[dict[str, Any]]:
            return [{"name": "setup"}]

        async def skill(self, name: str) -> dict[str, Any]:
            return {"name": name}

        async def accept_skill(self, name: str, digest: str) -> dict[str, Any]:
            return {"name": name, "digest": digest}

    async with site.client(site.build(operations=Commands())) as client:
        assert (await client.get("/api/skills")).json() == {"skills": [{"name": "setup"}]}
        assert (await client.get("/api/skills/setup")).json() == {"name": "setup"}
        accept = "/api/skills/setup/accept"
        answer = await client.post(accept, json={"digest": "d"})
        assert answer.json() == {"name": "setup", "digest": "d"}
        assert (await client.post(accept, json={})).status_code == 400
        assert (await client.post("/api/schedules/daily/run")).json() == {"event": 7}
        assert (await client.post("/api/events/1/replay")).json() == {"event": 2}
        assert (await client.post("/api/events/9/replay")).status_code == 404


async def test_every_answer_is_guarded(client: httpx.AsyncClient) -> None:
    for path in ("/api/status", "/api/nothing", "/", "/health"):
        headers = (await client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"


async def test_the_lights_need_no_token_and_tell_nothing(stranger: httpx.AsyncClient) -> None:
    for path in ("/health", "/ready"):
        answer = await stranger.get(path)
        assert (answer.status_code, json.loads(answer.content)) == (200, {"ok": True})


async def test_effects_are_listed_by_state(site: Site, client: httpx.AsyncClient) -> None:
    claim = await site.claimed("refund", "console/a")
    for key in ("k1", "k2"):
        await site.store.begin_effect(
            thread_key=claim.thread_key,
            fence=claim.fence,
            key=key,
            event_seq=claim.seq,
            tool="refund",
            digest="d",
        )
    await site.store.end_effect("k1", "done", "ok")
    [row] = (await client.get("/api/effects", params={"state": "done"})).json()["effects"]
    assert (row["key"], row["tool"], row["state"]) == ("k1", "refund", "done")
    assert len((await client.get("/api/effects")).json()["effects"]) == 2
    assert (await client.get("/api/effects", params={"state": "lost"})).status_code == 400


async def test_a_state_that_no_run_can_have_is_refused(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/runs?state=done")).json() == {"runs": []}
    answer = await client.get("/api/runs?state=dead")
    assert answer.status_code == 400 and "queued" in answer.json()["error"]
