"""A hook on a daemon that really runs: from a sender who does not wait to the delivered answer."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from wakeful.service import Service, open_service

SECRET = "hook-secret"
SOON = 60.0  # seconds; a busy machine
HOOK = f"""\
use = "webhook"
verify = {{ scheme = "github", secret = "{SECRET}" }}
prompt = "Look at {{{{ payload.title }}}}."
thread = "pull/{{{{ payload.number }}}}"
deliver = "console:builds"
"""
SCRIPT = """\
[[turn]]
when = '(?s)Look at (?P<all>.+)\\.'
steps = [{ wait = 1.0, say = "I looked at {all}." }]
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    (folder / "channels").mkdir(parents=True)
    (folder / "agent.toml").write_text(
        'model = "rehearsal"\ntimezone = "UTC"\n\n[server]\nbind = "127.0.0.1:0"\n'
    )
    (folder / "AGENTS.md").write_text("You look at pull requests.\n")
    (folder / "rehearsal.toml").write_text(SCRIPT)
    (folder / "channels" / "ci.toml").write_text(HOOK)
    return folder


@asynccontextmanager
async def awake(agent: Path) -> AsyncIterator[tuple[Service, httpx.AsyncClient]]:
    async with open_service(agent) as service:
        token = (agent / ".wakeful" / "token").read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(
            base_url=service.url, headers=headers, trust_env=False, timeout=SOON
        ) as client:
            yield service, client


def signed(payload: Any) -> tuple[bytes, dict[str, str]]:
    body = json.dumps(payload).encode()
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return body, {"x-hub-signature-256": f"sha256={digest}", "content-type": "application/json"}


async def deliver(service: Service, payload: Any) -> httpx.Response:
    body, headers = signed(payload)
    async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=SOON) as world:
        return await world.post("/hooks/ci", content=body, headers=headers)


async def ended(client: httpx.AsyncClient, event: int) -> Any:
    async with client.stream("GET", f"/api/events/{event}/stream") as stream:
        async for _ in stream.aiter_lines():
            pass
    return (await client.get(f"/api/events/{event}")).json()


async def said(client: httpx.AsyncClient, key: str, count: int) -> list[str]:
    """What the agent said in a thread, once there is so much of it."""
    for _ in range(int(SOON / 0.05)):
        thread = (await client.get("/api/thread", params={"key": key})).json()
        found = [m["text"] for m in thread.get("messages", ()) if m["role"] == "assistant"]
        if len(found) >= count:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"{key} did not get {count} answers")


async def test_W6_a_sender_who_hangs_up_gets_its_run_and_its_answer(agent: Path) -> None:
    async with awake(agent) as (service, client):
        body, headers = signed({"title": "one", "number": 42})
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        line = f"POST /hooks/ci HTTP/1.1\r\nhost: x\r\n{head}content-length: {len(body)}\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", service.server.port)
        writer.write(line.encode() + body)
        answer = await reader.read(200)
        writer.close()
        await writer.wait_closed()
        assert answer.startswith(b"HTTP/1.1 202 ")
        assert (await client.get("/api/events/1")).json()["state"] in ("queued", "running")
        assert (await ended(client, 1))["reply"] == "I looked at one."


async def test_deliveries_go_on_in_their_thread_and_are_delivered(agent: Path) -> None:
    async with awake(agent) as (service, client):
        for title in ("one", "two"):
            answer = await deliver(service, {"title": title, "number": 42})
            assert answer.status_code == 202
            state = await ended(client, answer.json()["event"])
            assert (state["state"], state["thread"]) == ("done", "webhook/ci/pull/42")
        assert await said(client, "webhook/ci/pull/42", 2) == [
            "I looked at one.",
            "I looked at two.",
        ]
        assert len(await said(client, "console/builds", 2)) == 2


async def test_W2_a_delivery_repeated_after_a_restart_is_one_run(agent: Path) -> None:
    payload = {"title": "one", "number": 42}
    async with awake(agent) as (service, client):
        assert (await deliver(service, payload)).status_code == 202
        await ended(client, 1)
    async with awake(agent) as (service, client):
        again = await deliver(service, payload)
        assert again.status_code == 200 and again.json() == {"event": 1, "duplicate": True}
        assert len((await client.get("/api/runs")).json()["runs"]) == 1


async def test_a_hook_that_is_edited_or_deleted_follows(agent: Path) -> None:
    async with awake(agent) as (service, client):
        (agent / "channels" / "ci.toml").write_text(HOOK.replace(SECRET, "another-secret"))
        await service.core.adopt(service.folder.scan())
        await service.core.channels.settled()
        assert (await deliver(service, {"number": 1})).status_code == 401
        (agent / "channels" / "ci.toml").unlink()
        await service.core.adopt(service.folder.scan())
        assert (await deliver(service, {"number": 1})).status_code == 404
        assert (await client.get("/api/runs")).json() == {"runs": []}
