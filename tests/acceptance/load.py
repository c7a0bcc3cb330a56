"""Senders that behave as real ones do: what was not acknowledged is sent again, same id."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import threading
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from time import monotonic

import httpx

from tests.acceptance.daemon import Daemon

SECRET = "acceptance-hook-secret"
KINDS = ("load", "load", "ask", "delegate", "plain")
PAUSE = 0.02  # seconds between two tries
OUTSTANDING = 60  # events sent and not answered yet
GIVE_UP = 120.0  # seconds without an acknowledgement


def delivery(kind: str, number: int, thread: str) -> tuple[bytes, dict[str, str]]:
    """Body and headers of one signed delivery."""
    body = json.dumps({"kind": kind, "number": number, "thread": thread}).encode()
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return body, {
        "Content-Type": "application/json",
        "X-Hub-Signature-256": f"sha256={digest}",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": f"delivery-{number}",
    }


class Sender(threading.Thread):
    """One source for a few threads. It sends a thread's next event when the last one was acked."""

    def __init__(
        self, daemon: Daemon, name: str, *, threads: int, seed: int, ended: Callable[[], int]
    ) -> None:
        super().__init__(daemon=True)
        self.target, self.ended = daemon, ended  # ended: how many answers have come so far
        self.threads = [f"{name}{n}" for n in range(threads)]
        self.acked: dict[str, list[int]] = defaultdict(list)  # thread -> numbers, in order
        self.kinds: dict[int, str] = {}
        self.console: dict[int, int] = {}  # number -> event, of those sent to the console
        self.failure = ""
        self._dice = random.Random(seed)
        self._numbers = count(seed * 1_000_000)
        self._halt, self._tick = threading.Event(), threading.Event()

    def stop(self) -> None:
        self._halt.set()
        self.join(GIVE_UP + 10)

    def run(self) -> None:
        with httpx.Client(timeout=10, trust_env=False) as client:
            while not self._halt.is_set() and not self.failure:
                if len(self.kinds) - self.ended() > OUTSTANDING:
                    self._tick.wait(PAUSE)
                    continue
                thread, kind = self._dice.choice(self.threads), self._dice.choice(KINDS)
                number = next(self._numbers)
                self.kinds[number] = kind
                self._until_acked(client, thread, kind, number)
                self._tick.wait(PAUSE)

    def _until_acked(self, client: httpx.Client, thread: str, kind: str, number: int) -> None:
        end = monotonic() + GIVE_UP
        while monotonic() < end:
            try:
                response = self.post(client, thread, kind, number)
            except (httpx.TransportError, FileNotFoundError):  # it is down, or was never up
                self._tick.wait(PAUSE)
                continue
            if response.status_code in (200, 202):
                self.acked[thread].append(number)
                self.noted(number, response)
                return
            if response.status_code < 500:
                self.failure = f"{response.status_code} {response.text}"
                return
            self._tick.wait(PAUSE)
        self.failure = f"event {number} was not acknowledged within {GIVE_UP} s"

    def post(self, client: httpx.Client, thread: str, kind: str, number: int) -> httpx.Response:
        body, headers = delivery(kind, number, thread)
        return client.post(f"{self.target.url}/hooks/load", content=body, headers=headers)

    def noted(self, number: int, response: httpx.Response) -> None:
        """What else the acknowledgement says; a webhook's says nothing of use."""


class ConsoleSender(Sender):
    """The same through the operator's API."""

    def post(self, client: httpx.Client, thread: str, kind: str, number: int) -> httpx.Response:
        body = {"thread": f"console/{thread}", "text": f"{kind} {number}", "id": f"c{number}"}
        headers = {"Authorization": f"Bearer {self.target.token}"}
        return client.post(f"{self.target.url}/api/messages", json=body, headers=headers)

    def noted(self, number: int, response: httpx.Response) -> None:
        self.console[number] = int(response.json()["event"])


class Approver(threading.Thread):
    """A person who says yes to whatever is asked."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__(daemon=True)
        self.target = daemon
        self.strange: list[str] = []
        self._halt = threading.Event()

    def stop(self) -> None:
        self._halt.set()
        self.join(30)

    def run(self) -> None:
        with httpx.Client(timeout=10, trust_env=False) as client:
            while not self._halt.wait(0.1):
                try:
                    self._answer_all(client)
                except (httpx.TransportError, FileNotFoundError):
                    continue  # it is down just now; it will be asked again

    def _answer_all(self, client: httpx.Client) -> None:
        headers = {"Authorization": f"Bearer {self.target.token}"}
        answer = client.get(f"{self.target.url}/api/waits", headers=headers)
        if answer.status_code != 200:
            return
        for wait in answer.json()["waits"]:
            decision = {"decision": "approve", "digest": wait["digest"]}
            url = f"{self.target.url}/api/waits/{wait['id']}"
            said = client.post(url, json=decision, headers=headers)
            if said.status_code not in (200, 202, 404, 409, 503):
                self.strange.append(f"{said.status_code} {said.text}")
