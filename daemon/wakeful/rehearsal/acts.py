"""The three acts of the demo: a chat, a schedule, a webhook. Each is believed only when seen."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import httpx

from wakeful.events import ENDED

SECRET = "WAKEFUL_DEMO_SECRET"
PAYLOAD = "demo_agent/pull_request.json"
WATCHING = {"Wakeful-Live": "1"}  # we are about to open the stream
LOOK_EVERY = 0.2  # seconds


class Unconvinced(Exception):
    """Something that the demo promises was not seen."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The daemon as its clients see it, and the audience."""

    client: httpx.AsyncClient
    echo: Callable[[str], None]

    async def say(self, text: str, thread: str) -> tuple[int, str]:
        """Send a message as a person and watch it being answered; the event and its answer."""
        self.echo(f"  you> {text}")
        accepted = await self.post("/api/messages", {"thread": thread, "text": text})
        async for update in self._updates(accepted["event"]):
            if update["kind"] in ("tool", "agent"):
                who = "" if update["agent"] == "main" else f"{update['agent']}: "
                self.echo(f"         ({who}{update['text']})")
        return accepted["event"], await self.answer(accepted["event"])

    async def steps(self, event: int) -> set[tuple[str, str, str]]:
        """What really happened inside a run: kind, agent and name of each step that went well."""
        steps = (await self.get(f"/api/runs/{event}"))["steps"]
        return {(one["kind"], one["agent"], one["name"]) for one in steps if one["ok"]}

    async def answer(self, event: int) -> str:
        """Wait for the end of an event and show its answer."""
        while True:
            found = await self.get(f"/api/events/{event}")
            if found["state"] in ENDED:
                break
            await asyncio.sleep(LOOK_EVERY)
        if found["state"] != "done":
            raise Unconvinced(found["error"] or f"event {event} ended as {found['state']}")
        self.echo(f"  agent> {found['reply']}")
        return str(found["reply"])

    async def deliver(self, action: str) -> int:
        """Call the hook as GitHub does: signed, with the headers it sends."""
        payload = json.loads(files("wakeful.rehearsal").joinpath(PAYLOAD).read_text("utf-8"))
        payload["action"] = action
        payload["pull_request"]["state"] = "open" if action == "opened" else "closed"
        body = json.dumps(payload).encode()
        signature = hmac.new(os.environ[SECRET].encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/demo",
            "X-GitHub-Event": "pull_request",
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-Hub-Signature-256": f"sha256={signature}",
        }
        forged = {**headers, "X-Hub-Signature-256": f"sha256={'0' * 64}"}
        refused = await self.client.post("/hooks/github", content=body, headers=forged)
        believe(refused.status_code == 401, f"a forged delivery got {refused.status_code}")
        answer = await self.client.post("/hooks/github", content=body, headers=headers)
        believe(answer.status_code == 202, f"the delivery got {answer.status_code}")
        self.echo(f"  github> pull_request {action}")
        return int(answer.json()["event"])

    async def messages(self, thread: str, role: str) -> list[str]:
        answer = await self.client.get("/api/thread", params={"key": thread})
        if answer.status_code == 404:
            return []
        answer.raise_for_status()
        return [one["text"] for one in answer.json()["messages"] if one["role"] == role]

    async def delivered(self, thread: str, words: str) -> str:
        """Wait until a message with these words stands in a thread."""
        while True:
            found = await self.messages(thread, "assistant")
            if match := next((text for text in found if words in text), None):
                return match
            await asyncio.sleep(LOOK_EVERY)

    async def get(self, path: str) -> Any:
        return (await self.client.get(path)).raise_for_status().json()

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return (await self.client.post(path, json=body, headers=WATCHING)).raise_for_status().json()

    async def _updates(self, event: int) -> AsyncIterator[dict[str, Any]]:
        async with self.client.stream("GET", f"/api/events/{event}/stream") as stream:
            stream.raise_for_status()
            async for line in stream.aiter_lines():
                data = json.loads(line[5:]) if line.startswith("data:") else {}
                if "kind" in data:
                    yield data
                if line == "event: end":
                    return


async def chat(stage: Stage) -> None:
    """A question that needs a tool and a sub-agent, then one that needs a memory."""
    stage.echo("A chat: a tool and a sub-agent, side by side.")
    event, answer = await stage.say("Where is order A-1001?", "console/demo")
    believe("two packets of Assam" in answer, "the tool's result is not in the answer")
    believe("Northwind delivers within two days" in answer, "the sub-agent's answer is missing")
    steps = await stage.steps(event)
    believe(("tool", "main", "order_status") in steps, "the tool was not called")
    believe(("tool", "researcher", "carrier_record") in steps, "the sub-agent did not look it up")
    _, again = await stage.say("Which order was that?", "console/demo")
    believe("A-1001" in again, "the conversation did not go on where it stopped")


async def schedule(stage: Stage) -> None:
    """A report that comes by itself, and a question about it."""
    stage.echo("A schedule: a report every five seconds, without anybody asking.")
    report = await stage.delivered("console/reports", "Numbers of the day")
    stage.echo(f"  report> {report}")
    rows = (await stage.get("/api/schedules"))["schedules"]
    believe(any(row["name"] == "daily-numbers" for row in rows), "the schedule is not listed")
    _, answer = await stage.say("What did the report say?", "console/reports")
    believe("2 orders" in answer, "the report's thread did not go on")


async def webhook(stage: Stage) -> None:
    """A signed delivery that is answered with nobody watching, and a second one in its thread."""
    stage.echo("A webhook: GitHub delivers, signed; nobody is watching.")
    answer = await stage.answer(await stage.deliver("opened"))
    believe("Say which teas are in stock" in answer, "the answer is not about the pull request")
    await stage.delivered("console/reviews", "Pull request 42 by octocat")
    again = await stage.answer(await stage.deliver("closed"))
    believe("octocat opened it" in again, "the second delivery knew nothing of the first")
    thread = await stage.messages("webhook/github/pull/42", "assistant")
    believe(len(thread) == 2, f"the pull request's thread holds {len(thread)} answers, not 2")


def believe(seen: bool, otherwise: str) -> None:
    if not seen:
        raise Unconvinced(otherwise)


ACTS: Mapping[str, Callable[[Stage], Awaitable[None]]] = {
    "chat": chat,
    "schedule": schedule,
    "webhook": webhook,
}
