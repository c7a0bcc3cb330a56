"""Promise 5, with canaries: each is put where it could get out, and looked for everywhere."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.service.test_opening import awake, ended, post, token
from wakeful.config import SecretSettings
from wakeful.secrets import open_secrets
from wakeful.service.logs import start_logging

HOOK, NAMED, LOOSE = "canary-hook-41", "canary-named-42", "canary-loose-43"
TOOLS = '''\
import os
from pathlib import Path

from wakeful.tool import tool

TOKEN = Path(__file__).parent.parent / ".wakeful" / "token"


@tool(effect="once")
async def spill() -> str:
    """Spill."""
    known = [os.environ[name] for name in ("HOOK_SECRET", "SHOP_API_KEY")]
    return " ".join([*known, TOKEN.read_text()])


@tool(effect="read")
async def slip() -> str:
    """Slip."""
    raise RuntimeError("x" * 1_900 + " cannot sign in with " + os.environ["HOOK_SECRET"] * 9)


@tool(effect="once", approve="always")
async def buy(what: str) -> str:
    """Buy.

    Args:
        what: the thing.
    """
    return what
'''
SCRIPT = f"""\
[[turn]]
when = 'spill'
steps = [{{ call = "spill" }}, {{ say = "{{result}}" }}]

[[turn]]
when = 'slip'
steps = [{{ call = "slip" }}, {{ say = "{{result}}" }}]

[[turn]]
when = 'tell'
steps = [
  {{ call = "remember", args = {{ text = "it is {LOOSE}" }} }},
  {{ call = "send", args = {{ to = "console:other", text = "it is {LOOSE}" }} }},
  {{ call = "nothing_like_that", args = {{ at = "{LOOSE}" }} }},
  {{ say = "I know {LOOSE}" }},
]

[[turn]]
when = 'buy'
steps = [{{ call = "buy", args = {{ what = "a book" }} }}, {{ say = "{{result}}" }}]

[[turn]]
when = '(?s)(?P<all>.+)'
steps = [{{ say = "heard: {{all}}" }}]
"""
HANDLER = """\
import os

CRON = "0 0 1 1 *"


async def run(host):
    raise RuntimeError("refused: " + os.environ["HOOK_SECRET"])
"""


@pytest.fixture
def spilling(agent: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOOK_SECRET", HOOK)
    monkeypatch.setenv("PAGER", NAMED)
    monkeypatch.setenv("SHOP_API_KEY", LOOSE)
    (agent / "tools" / "work.py").write_text(TOOLS)
    (agent / "rehearsal.toml").write_text(SCRIPT)
    (agent / "schedules" / "bad.py").write_text(HANDLER)
    (agent / "channels" / "ci.toml").write_text(
        'use = "webhook"\nverify = { scheme = "bearer", secret = "secret:HOOK_SECRET" }\n'
    )
    (agent / "channels" / "pager.toml").write_text(
        'use = "webhook"\nverify = { scheme = "bearer", secret = "${PAGER}" }\n'
    )
    return agent


@asynccontextmanager
async def logging(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    secrets = open_secrets(folder, SecretSettings())
    stop = start_logging(folder / ".wakeful", known=lambda: secrets.known)
    try:
        async with awake(folder, secrets=secrets) as (_, client):
            yield client
    finally:
        stop()


def places_of(folder: Path, secret: str) -> list[str]:
    """Where in the store and in the files of the daemon a secret stands."""
    found = []
    store = sqlite3.connect(folder / ".wakeful" / "state.db")
    tables = [row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    for table in tables:
        for row in store.execute(f"SELECT * FROM {table}"):
            if any(secret in str(value) for value in row):
                found.append(table)
                break
    store.close()
    files = [f for f in (folder / ".wakeful").rglob("*") if f.is_file() and f.name != "token"]
    found += [f.name for f in files if f.suffix != ".db" and secret.encode() in f.read_bytes()]
    return found


async def test_X4_no_secret_gets_out_whatever_spills_it(spilling: Path) -> None:
    everything = ""
    async with logging(spilling) as client:
        secrets = (HOOK, NAMED, LOOSE, token(spilling))
        for text in ("spill", "slip", "tell", f"I type {HOOK} and {NAMED}"):
            reply = (await ended(client, await post(client, text)))["reply"]
            assert "[redacted]" in reply
            everything += reply
        body = {"text": f"hello {NAMED}", NAMED: [{"deep": HOOK}]}
        delivery = await client.post(
            "/hooks/ci", json=body, headers={"authorization": f"Bearer {HOOK}"}
        )
        await ended(client, delivery.json()["event"])
        await client.post("/api/schedules/bad/run")
        for path in ("threads", "runs", "schedules", "status", "waits?state=all"):
            everything += (await client.get(f"/api/{path}")).text
        for thread in (await client.get("/api/threads")).json()["threads"]:
            everything += (await client.get("/api/thread", params={"key": thread["key"]})).text
            everything += (await client.get("/", params={"thread": thread["key"]})).text
        for run in (await client.get("/api/runs")).json()["runs"]:
            everything += (await client.get(f"/api/runs/{run['event']}")).text
    assert [secret for secret in secrets if secret in everything] == []
    assert [place for secret in secrets for place in places_of(spilling, secret)] == []


async def test_X4_a_decision_does_not_carry_a_secret(spilling: Path) -> None:
    async with logging(spilling) as client:
        seq = await post(client, "buy")
        while not (waits := (await client.get("/api/waits")).json()["waits"]):
            assert (await client.get(f"/api/events/{seq}")).json()["state"] != "failed"
        path, digest = f"/api/waits/{waits[0]['id']}", waits[0]["digest"]
        answer = await client.post(
            path, json={"decision": "edit", "digest": digest, "args": {"what": HOOK}}
        )
        assert answer.status_code == 400
        assert "secret" in answer.json()["error"]
        await client.post(
            path, json={"decision": "reject", "digest": digest, "reason": f"not with {HOOK}"}
        )
        assert "[redacted]" in json.dumps(await ended(client, seq))
    assert places_of(spilling, HOOK) == []


async def test_what_the_daemon_keeps_is_for_its_user_alone(spilling: Path) -> None:
    async with logging(spilling) as client:
        await ended(client, await post(client, "spill"))
        kept = [spilling / ".wakeful", *(spilling / ".wakeful").rglob("*")]
        open_to_others = [path for path in kept if path.stat().st_mode & 0o077]
        assert {path.name for path in kept} >= {"state.db", "state.db-wal", "token", "wakeful.log"}
    assert open_to_others == []
