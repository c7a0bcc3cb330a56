"""The whole daemon on a folder: real store, real agent with a scripted model, real HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.fakes import until
from wakeful.backoff import Backoff
from wakeful.errors import FolderFaulty, PortTaken, Refused, StoreBusy
from wakeful.service import Service, open_service, tidying
from wakeful.service.channels import Channels

SECRET = "a-secret-of-the-hook"
BROKEN = """\
from contextlib import asynccontextmanager

from pydantic import BaseModel


class Settings(BaseModel):
    pass


@asynccontextmanager
async def open(settings, host):
    raise ConnectionError("the token was revoked")
    yield
"""


@asynccontextmanager
async def awake(folder: Path, **more: Any) -> AsyncIterator[tuple[Service, httpx.AsyncClient]]:
    async with open_service(folder, drain=5.0, **more) as service:
        headers = {"authorization": f"Bearer {token(folder)}"}
        async with httpx.AsyncClient(
            base_url=service.url, headers=headers, trust_env=False
        ) as client:
            yield service, client


def token(folder: Path) -> str:
    return (folder / ".wakeful" / "token").read_text().strip()


async def post(client: httpx.AsyncClient, text: str, **more: str) -> int:
    answer = await client.post("/api/messages", json={"text": text, **more})
    assert answer.status_code == 202, answer.text
    return int(answer.json()["event"])


async def ended(client: httpx.AsyncClient, seq: int) -> dict[str, Any]:
    found: dict[str, Any] = {}

    async def over() -> bool:
        found.update((await client.get(f"/api/events/{seq}")).json())
        return found["state"] in ("done", "silent", "failed", "merged")

    await until(over, seconds=30)
    return found


async def reach(client: httpx.AsyncClient, seq: int, state: str) -> None:
    async def there() -> bool:
        return bool((await client.get(f"/api/events/{seq}")).json()["state"] == state)

    await until(there, seconds=30)


async def test_a_message_is_answered_and_its_thread_goes_on(agent: Path) -> None:
    async with awake(agent) as (_, client):
        assert (await client.get("/ready")).status_code == 200
        assert (await client.get("/health")).status_code == 200
        first = await ended(client, await post(client, "one", thread="console/a"))
        assert first["reply"] == "heard: one" and first["state"] == "done"
    async with awake(agent) as (_, client):  # and after a restart
        await ended(client, await post(client, "two", thread="console/a"))
        thread = (await client.get("/api/thread", params={"key": "console/a"})).json()
    assert [m["text"] for m in thread["messages"]] == ["one", "heard: one", "two", "heard: two"]


async def test_a_daemon_whose_store_was_deleted_is_neither_ready_nor_well(agent: Path) -> None:
    async with awake(agent) as (_, client):
        await ended(client, await post(client, "one"))
        (agent / ".wakeful" / "state.db").unlink()
        assert (await client.post("/api/messages", json={"text": "two"})).status_code == 503
        assert (await client.get("/ready")).status_code == 503
        assert (await client.get("/health")).status_code == 503


async def test_a_stream_tells_the_text_as_it_comes_and_ends(agent: Path) -> None:
    async with awake(agent) as (_, client):
        answer = await client.post(
            "/api/messages", json={"text": "hello there"}, headers={"wakeful-live": "1"}
        )
        seq = answer.json()["event"]
        async with client.stream("GET", f"/api/events/{seq}/stream") as stream:
            lines = [line async for line in stream.aiter_lines()]
    told = [json.loads(line[6:]) for line in lines if line.startswith('data: {"kind')]
    assert "".join(one["text"] for one in told if one["kind"] == "text") == "heard: hello there"
    assert told[-1]["kind"] == "state" and told[-1]["text"] == "done"


async def test_a_signed_delivery_is_answered_where_it_should_be(agent: Path) -> None:
    (agent / "channels" / "ci.toml").write_text(
        'use = "webhook"\nverify = { scheme = "github", secret = "${HOOK}" }\n'
        'prompt = "build {{ payload.number }}"\nthread = "pull/{{ payload.number }}"\n'
        'deliver = "console:reports"\n'
    )
    body = json.dumps({"number": 42}).encode()
    signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOOK", SECRET)
        async with awake(agent) as (_, client):
            headers = {"x-hub-signature-256": signature, "x-github-delivery": "d1"}
            answer = await client.post("/hooks/ci", content=body, headers=headers)
            assert answer.status_code == 202, answer.text
            wrong = {**headers, "x-hub-signature-256": "sha256=" + "0" * 64}
            refused = await client.post("/hooks/ci", content=body, headers=wrong)
            assert refused.status_code == 401
            await until(lambda: _said(client, "console/reports"))
            threads = (await client.get("/api/threads")).json()["threads"]
    assert "webhook/ci/pull/42" in json.dumps(threads)


async def _said(client: httpx.AsyncClient, key: str) -> bool:
    answer = await client.get("/api/thread", params={"key": key})
    return answer.status_code == 200 and bool(answer.json()["messages"])


async def test_a_schedule_fires_when_asked_and_delivers(agent: Path) -> None:
    (agent / "schedules" / "weekly.md").write_text(
        '---\ncron: "0 9 * * 1"\ndeliver: "console:reports"\n---\nWrite the report.\n'
    )
    async with awake(agent) as (_, client):
        answer = await client.post("/api/schedules/weekly/run")
        assert answer.status_code == 202, answer.text
        end = await ended(client, answer.json()["event"])
        assert "Write the report." in end["reply"]
        rows = (await client.get("/api/schedules")).json()["schedules"]
    assert "weekly" in [row["name"] for row in rows]


async def test_D5_a_waiting_run_survives_a_restart_and_goes_on(agent: Path) -> None:
    async with awake(agent) as (_, client):
        seq = await post(client, "pay")
        await reach(client, seq, "waiting")
    async with awake(agent) as (_, client):
        [wait] = (await client.get("/api/waits")).json()["waits"]
        answer = await client.post(
            f"/api/waits/{wait['id']}", json={"decision": "approve", "digest": wait["digest"]}
        )
        assert answer.status_code == 200, answer.text
        assert (await ended(client, seq))["reply"] == "paid: 5 paid"


async def test_a_running_and_a_waiting_event_can_be_stopped(agent: Path) -> None:
    async with awake(agent) as (_, client):
        waiting = await post(client, "pay")
        await reach(client, waiting, "waiting")
        assert (await client.post(f"/api/events/{waiting}/stop")).json() == {"stopped": True}
        assert "Stopped" in (await ended(client, waiting))["reply"]
        assert (await client.post(f"/api/events/{waiting}/stop")).json() == {"stopped": False}
        assert (await client.get("/api/waits")).json()["waits"] == []


async def test_an_event_that_has_ended_can_be_replayed(agent: Path) -> None:
    async with awake(agent) as (_, client):
        first = await post(client, "once more")
        await ended(client, first)
        again = (await client.post(f"/api/events/{first}/replay")).json()["event"]
        assert again != first
        assert (await ended(client, again))["reply"] == "heard: once more"


async def test_P12_C26_a_broken_channel_is_shown_and_the_others_run(agent: Path) -> None:
    (agent / "channels" / "pager.py").write_text(BROKEN)
    (agent / "channels" / "pager.toml").write_text("")
    (agent / "channels" / "odd.toml").write_text('use = "webhoook"\n')
    async with awake(agent) as (_, client):
        assert (await ended(client, await post(client, "hi")))["reply"] == "heard: hi"
        status = (await client.get("/api/status")).json()
    assert status["channels"]["pager"]["state"] in ("broken", "opening")
    assert "revoked" in status["channels"]["pager"]["error"]
    assert status["channels"]["console"]["state"] == "open"
    assert any("webhoook" in fault for fault in status["faults"])


async def test_P16_a_channel_that_is_given_up_is_told_by_another_one(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = Backoff(first=0.001, cap=0.002)
    defaults = Channels.__init__.__kwdefaults__ or {}
    monkeypatch.setitem(defaults, "backoff", quick)
    (agent / "channels" / "pager.py").write_text(BROKEN)
    with (agent / "agent.toml").open("a") as file:
        file.write('\n[alerts]\nroute = ["pager:me", "console:ops"]\n')
    async with awake(agent) as (service, client):
        await until(lambda: service.core.channels.states()["pager"]["state"] == "circuit-open")

        async def told() -> bool:
            return bool(await service.core.view.runs())

        await until(told)
        [event] = await service.core.view.runs()
        run = await service.core.view.run(event["event"])
        assert run is not None and run["principal"] == "channel:pager"
        [notice] = run["replies"]
        assert notice["address"] == "console:ops"
        assert "pager failed 8 times" in notice["text"] and "revoked" in notice["text"]
        assert (await client.get("/health")).status_code == 200


async def test_P12_a_broken_security_setting_stops_the_daemon(agent: Path) -> None:
    (agent / "channels" / "ci.toml").write_text(
        'use = "webhook"\nprompt = "x"\nthread = "t"\ndeliver = "console:a"\n'
    )
    with pytest.raises(FolderFaulty, match="verify"):
        async with awake(agent):
            raise AssertionError("it must not start")


async def test_a_store_of_another_kind_behind_a_name_is_refused(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_STORE", "postgresql+psycopg://bot@db.example/x")
    with (agent / "agent.toml").open("a") as file:
        file.write('\n[store]\nurl = "${BOT_STORE}"\n')
    with pytest.raises(Refused, match="runs on SQLite"):
        async with awake(agent):
            raise AssertionError("it must not start")


async def test_status_shows_how_the_world_calls_it(agent: Path) -> None:
    with (agent / "agent.toml").open("a") as file:
        file.write('public_url = "https://bot.example.com"\n')
    async with awake(agent) as (service, _):
        assert (await service.core.view.status())["public_url"] == "https://bot.example.com"


async def test_P15_a_taken_port_is_a_sentence_and_leaves_the_store_free(agent: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        bind = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(PortTaken, match="is taken by another program"):
            async with awake(agent, overrides={"server": {"bind": bind}}):
                raise AssertionError("it must not start")
    async with awake(agent) as (_, client):
        assert (await client.get("/ready")).status_code == 200


async def test_a_second_daemon_on_the_same_folder_refuses(agent: Path) -> None:
    async with awake(agent):
        with pytest.raises(StoreBusy):
            async with awake(agent):
                raise AssertionError("it must not start")


async def test_an_edit_reaches_the_running_daemon(agent: Path) -> None:
    async with awake(agent, scan_every=0.02) as (service, client):
        (agent / "channels" / "second.toml").write_text('use = "console"\n')
        await until(lambda: "second" in service.core.channels)
        (agent / "channels" / "second.toml").unlink()
        await until(lambda: "second" not in service.core.channels)
        (agent / "schedules" / "late.md").write_text('---\ncron: "0 9 * * 1"\n---\nWrite.\n')
        await until(lambda: _scheduled(client, "late"))


async def _scheduled(client: httpx.AsyncClient, name: str) -> bool:
    rows = (await client.get("/api/schedules")).json()["schedules"]
    return name in [row["name"] for row in rows]


@pytest.mark.parametrize(
    ("name", "line"), [("server", 'public_url = "https://bot.example.com"'), ("tracing", "")]
)
async def test_an_edit_that_needs_a_restart_says_so(
    agent: Path, caplog: pytest.LogCaptureFixture, name: str, line: str
) -> None:
    async with awake(agent, scan_every=0.02):
        text = (agent / "agent.toml").read_text()
        (agent / "agent.toml").write_text(f"{text}{line}\n" if line else f"tracing = true\n{text}")
        await until(lambda: f"`{name}` of agent.toml has changed; restart" in caplog.text)


async def test_a_broken_edit_keeps_the_last_good_version(agent: Path) -> None:
    async with awake(agent, scan_every=0.02) as (service, client):
        (agent / "agent.toml").write_text("model = [")
        await until(lambda: service.core.faults)
        assert (await ended(client, await post(client, "hi")))["reply"] == "heard: hi"


async def test_D22_five_messages_at_once_keep_their_order(agent: Path) -> None:
    async with awake(agent) as (_, client):
        texts = [f"m{n}" for n in range(5)]
        seqs = [await post(client, text, thread="console/t") for text in texts]
        await asyncio.gather(*(ended(client, seq) for seq in seqs))
        thread = (await client.get("/api/thread", params={"key": "console/t"})).json()
    replies = [m["text"] for m in thread["messages"] if m["role"] == "assistant"]
    assert replies == [f"heard: {text}" for text in texts]


async def test_tidying_is_a_plugs_call(agent: Path) -> None:
    async with awake(agent) as (service, client):
        await ended(client, await post(client, "hi"))
        counts = await service.core.host("housekeeping").tidy()
    assert counts["artefacts"] == 0 and counts["payloads"] == 0


async def test_a_conversation_that_sleeps_is_made_smaller_at_night_and_remembers(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def checkpoints(service: Service) -> int:
        count = "SELECT count(*) FROM checkpoints"
        found: int = await service.core.store.run(lambda s: s.raw.execute(count).fetchone()[0])
        return found

    async with awake(agent) as (service, client):
        for n in range(5):
            await ended(client, await post(client, f"hi {n}", thread="console/t"))
        before, housekeeping = await checkpoints(service), service.core.host("housekeeping")
        assert (await housekeeping.tidy())["compacted"] == 0  # it may go on any moment
        monkeypatch.setattr(tidying, "LEFT_ALONE", -1)
        assert (await housekeeping.tidy())["compacted"] == 1
        assert before > tidying.ROWS and await checkpoints(service) == 1
        again = await ended(client, await post(client, "and on", thread="console/t"))
        assert again["reply"] == "heard: and on"
        assert (await housekeeping.tidy())["compacted"] == 0
