"""A hook from the request to the event."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.channels.conftest import GITHUB, SECRET, webhook
from wakeful.errors import Refused, StoreFull
from wakeful.events import Accepted, Event, Reply
from wakeful.web import build_public_app, serve


async def test_a_delivery_becomes_an_event(opened: Any) -> None:
    sender = await opened(
        prompt="Look at pull request {{ payload.number }} ({{ headers['x-github-event'] }}).",
        thread="pull/{{ payload.number }}",
        deliver="console:builds",
    )
    answer = await sender.send({"number": 42}, x_github_event="pull_request")
    assert answer.status_code == 202
    assert answer.json() == {"event": 1, "duplicate": False}
    [event] = await sender.events()
    assert event.source == "ci" and all(key.startswith("ci/") for key in event.keys)
    assert event.principal == "webhook:ci" and event.kind == "delivery" and event.untrusted
    assert event.thread_key == "webhook/ci/pull/42"
    assert event.text == "Look at pull request 42 (pull_request)."
    assert (event.channel, event.address) == ("console", "console:builds")


async def test_without_templates_the_payload_is_the_prompt(opened: Any) -> None:
    sender = await opened()
    await sender.send({"number": 42, "title": "Ünïcode"}, x_github_event="push")
    await sender.send({"number": 43, "blob": "x" * 50_000})
    first, second = await sender.events()
    assert "(push)" in first.text and '"number": 42' in first.text and "Ünïcode" in first.text
    assert "cut here" in second.text and len(second.text) < 21_000
    assert first.thread_key != second.thread_key
    assert first.address == "" and first.thread_key.startswith("webhook/ci/")


async def test_W5_what_does_not_verify_is_a_401_before_parsing(opened: Any) -> None:
    sender = await opened()
    for signature in ("", "sha256=00", "sha512=" + "0" * 64, "sha256="):
        answer = await sender.send({"a": 1}, raw=b"{not json", x_hub_signature_256=signature)
        assert answer.status_code == 401
        assert set(answer.json()) == {"error"}
    assert await sender.events() == []


async def test_a_verified_body_that_does_not_parse_is_a_400(opened: Any) -> None:
    sender = await opened()
    for raw in (b"", b"{", b"\xff", b"NaN", b"[" * 100_000, b'{"a":' * 200 + b"1" + b"}" * 200):
        answer = await sender.send(None, raw=raw)
        assert answer.status_code == 400
        assert answer.json()["error"].endswith(".")
    assert await sender.events() == []


async def test_W9_a_hook_has_its_own_body_limit(opened: Any) -> None:
    sender = await opened(body_limit=1000)
    assert (await sender.send("x" * 2000)).status_code == 413

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 100

    answer = await sender.client.post("/hooks/ci", content=chunks())
    assert answer.status_code == 413
    answer = await sender.client.post(
        "/hooks/ci", content=b"", headers={"content-length": "9" * 30}
    )
    assert answer.status_code == 413


async def test_a_form_with_a_payload_is_read(opened: Any) -> None:
    sender = await opened(prompt="{{ payload.zen }}{{ payload.a }}")
    form = "application/x-www-form-urlencoded"
    raw = urlencode({"payload": '{"zen": "Keep it."}'}).encode()
    assert (await sender.send(None, raw=raw, content_type=form)).status_code == 202
    assert (await sender.send(None, raw=b"a=1&b=2", content_type=form)).status_code == 202
    assert (await sender.send(None, raw=b"payload=%7B", content_type=form)).status_code == 400
    assert [event.text for event in await sender.events()] == ["Keep it.", "1"]


async def test_what_proves_something_is_not_shown_to_templates(opened: Any) -> None:
    sender = await opened(prompt="{{ headers | tojson }}")
    await sender.send({}, authorization="Bearer x", cookie="a=b", x_api_key="k", x_fine="yes")
    [event] = await sender.events()
    assert "x-fine" in event.text
    for name in ("authorization", "cookie", "signature", "api-key"):
        assert name not in event.text


async def test_a_template_that_fails_loses_no_delivery(opened: Any) -> None:
    sender = await opened(prompt="{{ payload.n + 1 }}", thread="{{ payload.n + 1 }}")
    assert (await sender.send({"n": "text"})).status_code == 202
    [event] = await sender.events()
    assert "template `prompt`" in event.text and '"n": "text"' in event.text


async def test_odd_text_can_be_stored(opened: Any) -> None:
    sender = await opened(prompt="{{ payload.v }}")
    assert (await sender.send(None, raw=b'{"v": "\\ud800 \\u0000"}')).status_code == 202
    (await sender.events())[0].text.encode()
    assert "\0" not in (await sender.events())[0].text


async def test_a_trusted_hook_says_so(opened: Any) -> None:
    sender = await opened(trusted=True)
    await sender.send({})
    assert not (await sender.events())[0].untrusted


async def test_other_methods_and_paths(opened: Any) -> None:
    sender = await opened()
    answer = await sender.client.get("/hooks/ci")
    assert answer.status_code == 405 and answer.headers["allow"] == "POST"
    for path in ("/hooks/ci/x", "/hooks/other", "/hooks"):
        assert (await sender.client.post(path)).status_code == 404


async def test_a_closed_hook_takes_nothing(opened: Any) -> None:
    sender = await opened()
    async with webhook.open(webhook.Settings(verify=GITHUB), sender.host):
        assert (await sender.send({})).status_code == 202
    assert (await sender.send({"b": 1})).status_code == 404
    sender.mounts.drop("ci")
    assert (await sender.send({"b": 1})).status_code == 404


async def test_a_store_that_cannot_is_no_202(opened: Any) -> None:
    sender = await opened()

    async def accept(event: Event) -> Accepted:
        raise StoreFull

    sender.host.accept = accept
    assert (await sender.send({})).status_code == 507


async def test_W6_the_answer_waits_for_the_commit_and_for_nothing_else(opened: Any) -> None:
    sender = await opened()
    committed = asyncio.Event()
    accept = sender.host.accept

    async def slow(event: Event) -> Accepted:
        await committed.wait()
        taken: Accepted = await accept(event)
        return taken

    sender.host.accept = slow
    asked = asyncio.create_task(sender.send({}))
    done, _ = await asyncio.wait({asked}, timeout=0.1)
    assert not done
    committed.set()
    assert (await asked).status_code == 202


async def test_W6_a_sender_that_hangs_up_is_still_served(opened: Any) -> None:
    sender = await opened()
    entered, committed, kept = asyncio.Event(), asyncio.Event(), asyncio.Event()
    accept = sender.host.accept

    async def slow(event: Event) -> Accepted:
        entered.set()
        await committed.wait()
        taken: Accepted = await accept(event)
        kept.set()
        return taken

    sender.host.accept = slow
    body = b'{"n": 1}'
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    head = f"POST /hooks/ci HTTP/1.1\r\nhost: x\r\nx-hub-signature-256: sha256={digest}\r\n"
    async with serve(build_public_app(sender.mounts), "127.0.0.1:0") as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        async with asyncio.timeout(10):
            await entered.wait()
            writer.close()
            await writer.wait_closed()
            committed.set()
            await kept.wait()
    assert len(await sender.events()) == 1


async def test_a_hook_cannot_be_written_to(opened: Any) -> None:
    sender = await opened()
    async with webhook.open(webhook.Settings(verify=GITHUB), sender.host) as hook:
        reply = Reply(
            id=1,
            event_seq=1,
            ordinal="notice",
            thread_key="webhook/ci/1",
            address="ci:x",
            text="hi",
            kind="answer",
            attempts=0,
        )
        with pytest.raises(Refused, match="deliver"):
            await hook.send(reply)
        assert await hook.find(reply) is None
        assert (await hook.probe()).ok
