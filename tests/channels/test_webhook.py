"""A hook from the request to the event."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tests.channels.loading import channel
from tests.web.conftest import Site, open_site
from wakeful.errors import Refused, StoreFull
from wakeful.events import Accepted, Event, Reply
from wakeful.web import build_public_app, serve

webhook = channel("webhook")
SECRET = "hook-secret"
GITHUB = {"scheme": "github", "secret": SECRET}


class Sender:
    """A sender that signs as GitHub does, over the real ASGI stack of the public listener."""

    def __init__(self, site: Site) -> None:
        self.site, self.mounts, self.events = site, site.mounts, site.events
        self.host = site.core.host("ci")
        transport = httpx.ASGITransport(build_public_app(site.mounts), raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://hooks.example.com")

    async def send(
        self, payload: Any, *, raw: bytes | None = None, **headers: str
    ) -> httpx.Response:
        body = json.dumps(payload).encode() if raw is None else raw
        digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        signed = {"x-hub-signature-256": f"sha256={digest}", "content-type": "application/json"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post("/hooks/ci", content=body, headers={**signed, **named})


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Any]:
    """Opens a hook `ci` with some settings."""
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(open_site(tmp_path))

        async def open_hook(**settings: Any) -> Sender:
            sender = Sender(site)
            given = webhook.Settings(**{"verify": GITHUB, **settings})
            await stack.enter_async_context(webhook.open(given, sender.host))
            return sender

        yield open_hook


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


async def test_W2_the_same_delivery_again_is_one_run(opened: Any) -> None:
    sender = await opened()
    assert (await sender.send({"n": 1}, x_github_delivery="d1")).status_code == 202
    again = await sender.send({"n": 1}, x_github_delivery="d2")
    assert again.status_code == 200
    assert again.json() == {"event": 1, "duplicate": True}
    assert (await sender.send({"n": 2}, x_github_delivery="d1")).status_code == 202
    assert len(await sender.events()) == 2


async def test_equal_bodies_are_duplicates_within_the_window_only(opened: Any) -> None:
    sender = await opened(window=60)
    assert (await sender.send({"down": True})).status_code == 202
    sender.site.clock.move(59)
    assert (await sender.send({"down": True})).status_code == 200
    sender.site.clock.move(1)
    assert (await sender.send({"down": True})).status_code == 202


async def test_a_body_that_comes_again_and_again_is_not_silenced_for_ever(opened: Any) -> None:
    sender = await opened(window=60)
    sender.site.clock.move(60)  # what came before the start is out of question now
    codes = []
    for _ in range(12):
        codes.append((await sender.send({"beat": True})).status_code)
        sender.site.clock.move(30)
    assert codes == [202, 200] * 6


@pytest.mark.parametrize("early", range(0, 60, 10))
async def test_a_retry_after_a_restart_is_known_on_both_sides_of_a_slot(
    opened: Any, early: int
) -> None:
    sender = await opened(window=60)
    sender.site.clock.move(early)
    assert (await sender.send({"n": 1})).status_code == 202
    sender.site.clock.move(20)
    again = await opened(window=60)  # the same path, a new memory
    assert (await again.send({"n": 1})).status_code == 200


async def test_an_id_from_the_payload_is_covered_by_the_signature(opened: Any) -> None:
    sender = await opened(id="{{ payload.id }}")
    assert (await sender.send({"id": "evt_1", "attempt": 1})).status_code == 202
    assert (await sender.send({"id": "evt_1", "attempt": 2})).status_code == 200
    assert (await sender.send({"attempt": 2})).status_code == 202
    assert (await sender.events())[0].keys == ("ci/id/evt_1",)


def standard(body: bytes, id: str, at: int) -> dict[str, str]:
    import base64

    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    digest = hmac.new(key, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": signature}


async def test_W1_W2_standard_webhooks(opened: Any) -> None:
    scheme = {"scheme": "standard", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
    sender = await opened(verify=scheme)
    now = int(sender.host.now().timestamp())

    async def post(id: str, at: int) -> int:
        answer = await sender.client.post(
            "/hooks/ci", content=b'{"a":1}', headers=standard(b'{"a":1}', id, at)
        )
        return int(answer.status_code)

    assert await post("msg_1", now) == 202
    assert await post("msg_1", now) == 200  # a replay within the window
    assert await post("msg_1", now + 30) == 200  # a retry with a new timestamp
    assert await post("msg_2", now) == 202  # an equal body with an id of its own
    sender.site.clock.move(600)
    assert await post("msg_1", now) == 401  # a replay after ten minutes
    assert [event.keys for event in await sender.events()] == [("ci/id/msg_1",), ("ci/id/msg_2",)]


async def test_a_scheme_that_signs_nothing_uses_the_senders_id(opened: Any) -> None:
    sender = await opened(
        verify={"scheme": "bearer", "secret": "t0ken", "header": "X-Gitlab-Token"}
    )
    headers = {"X-Gitlab-Token": "t0ken"}

    async def post(**more: str) -> int:
        named = {name.replace("_", "-"): value for name, value in more.items()}
        answer = await sender.client.post("/hooks/ci", content=b"{}", headers={**headers, **named})
        return int(answer.status_code)

    assert await post(Idempotency_Key="k1") == 202
    assert await post(Idempotency_Key="k1") == 200
    assert await post(Idempotency_Key="k2") == 202
    assert await post() == 202
    assert await post() == 200
    sender.site.clock.move(601)
    assert await post() == 202


async def test_what_proves_something_is_not_shown_to_templates(opened: Any) -> None:
    sender = await opened(prompt="{{ headers | tojson }}")
    await sender.send({}, authorization="Bearer x", cookie="a=b", x_api_key="k", x_fine="yes")
    [event] = await sender.events()
    assert "x-fine" in event.text
    for name in ("authorization", "cookie", "signature", "api-key"):
        assert name not in event.text


@pytest.mark.parametrize(
    ("value", "thread"),
    [
        ("42", "webhook/ci/t/42"),
        ("../../etc", "webhook/ci/t/%2E%2E/%2E%2E/etc"),
        ("a b/ä", "webhook/ci/t/a%20b/%C3%A4"),
        ("", "webhook/ci/t"),
        ("/", "webhook/ci/t"),
        ("x\0y\nz", "webhook/ci/t/x%EF%BF%BDy%0Az"),
        (".", "webhook/ci/t/%2E"),
    ],
)
async def test_a_thread_is_harmless(opened: Any, value: str, thread: str) -> None:
    sender = await opened(thread="t/{{ payload.v }}")
    assert (await sender.send({"v": value})).status_code == 202
    assert (await sender.events())[0].thread_key == thread


async def test_a_long_thread_is_shortened_and_stays_distinct(opened: Any) -> None:
    sender = await opened(thread="{{ payload.v }}")
    for tail in "ab":
        await sender.send({"v": "x" * 400 + tail})
    first, second = [event.thread_key for event in await sender.events()]
    assert first != second and len(first) < 250


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
