"""What makes two deliveries the same one, and which thread each belongs to."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import pytest


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
