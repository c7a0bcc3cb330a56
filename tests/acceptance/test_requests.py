"""Ten thousand generated requests against the real daemon: every route, and never a 500."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.acceptance.load import SECRET
from tests.acceptance.stage import Stage

REQUESTS = 10_000
SUCCEED = 0.3  # the share of requests that must be answered with success
STREAMS = "/api/events/{event}/stream"  # asked for one event that has ended: a short answer

WORDS = st.text(max_size=40)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
THREADS = st.sampled_from([f"console/f{n}" for n in range(40)])
GOOD_MESSAGE = st.fixed_dictionaries(
    {"text": st.sampled_from(["plain 1", "hello", "who are you?"])},
    optional={"thread": THREADS, "id": st.uuids().map(str)},
)
ODD_MESSAGE = st.fixed_dictionaries({}, optional={"text": JSON, "thread": JSON, "id": JSON})
DECISION = st.fixed_dictionaries(
    {"decision": st.sampled_from(["approve", "reject", "edit", "answer"]) | WORDS},
    optional={"digest": WORDS, "args": JSON, "reason": JSON, "text": JSON},
)
EVENTS = st.integers(1, 60).map(str) | st.integers(-5, 2**70).map(str) | WORDS
QUERY = st.dictionaries(
    st.sampled_from(["limit", "before", "state", "key", "x"]),
    st.integers(-3, 2**70).map(str) | WORDS | THREADS,
    max_size=3,
)
PAYLOAD = st.fixed_dictionaries(
    {"kind": st.just("plain"), "number": st.integers(0, 10**6), "thread": st.integers(0, 20)}
)


@dataclass
class Tally:
    routes: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, route: str, response: httpx.Response, sent: object) -> None:
        self.routes[route] += 1
        self.codes[response.status_code] += 1
        if response.status_code >= 500 and response.status_code != 501:
            self.faults.append(f"{response.status_code} {route} {sent!r}: {response.text[:200]}")

    @property
    def succeeded(self) -> float:
        good = sum(times for code, times in self.codes.items() if code < 300)
        return good / sum(self.codes.values())


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("requests") / "root") as stage:
        stage.daemon.start()
        yield stage


def _hook(client: httpx.Client, body: bytes, sign: bool, path: str) -> httpx.Response:
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Hub-Signature-256": f"sha256={digest}"} if sign else {}
    return client.post(path, content=body, headers=headers)


def _one(client: httpx.Client, data: st.DataObject, operations: list[tuple[str, str]]) -> Any:
    """Draw one request and send it; returns (route, answer, what was sent)."""
    route, method = data.draw(st.sampled_from(operations))
    if route == "/hooks/load":
        payload = data.draw(PAYLOAD.map(json.dumps).map(str.encode) | st.binary(max_size=80))
        signed = data.draw(st.booleans())
        return route, _hook(client, payload, signed, route), payload
    event = "1" if route == STREAMS else data.draw(EVENTS)
    path = route.replace("{event}", quote(event, safe="")).replace("{name}", "housekeeping")
    path = path.replace("{id}", quote(data.draw(WORDS.filter(bool)), safe=""))
    query = data.draw(QUERY) if method == "get" and route != STREAMS else {}
    if route == "/api/thread":
        query.setdefault("key", data.draw(THREADS))
    body: Any = None
    if method == "post":
        strategy = GOOD_MESSAGE | ODD_MESSAGE if route == "/api/messages" else DECISION | JSON
        body = data.draw(strategy)
    answer = client.request(method, path, params=query, json=body)
    return route, answer, (path, query, body)


def test_generated_requests_are_answered_and_never_with_a_500(stage: Stage) -> None:
    paths = stage.daemon.get("/api/openapi.json")["paths"]
    operations = [(route, method) for route, row in paths.items() for method in row]
    operations += [("/hooks/load", "post")] * 2 + [("/api/messages", "post")] * 3
    tally = Tally()
    with stage.daemon.client() as client:
        assert client.post("/api/messages", json={"text": "hello"}).status_code == 202
        stage.drain()

        @settings(
            max_examples=REQUESTS,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]
        )
        @given(st.data())
        def shower(data: st.DataObject) -> None:
            tally.add(*_one(client, data, operations))

        shower()
    assert tally.faults == []
    assert sum(tally.codes.values()) >= REQUESTS
    assert tally.succeeded >= SUCCEED, tally.codes
    assert set(tally.routes) == {route for route, _ in operations}
    assert stage.daemon.alive()
