"""A provider in trouble, from message to answer: a real daemon, a real client, real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from wakeful.rehearsal.provider import Provider, provider
from wakeful.rehearsal.reading import parse
from wakeful.service import open_service
from wakeful.web.auth import read_token

PATIENCE = 60.0  # seconds
ENDED = ("done", "silent", "failed")
SETTINGS = """
model = "openai:test"
[model_options]
base_url = "{url}/v1"
api_key = "none"
{more}
[server]
bind = "127.0.0.1:0"
"""


class Person:
    """Somebody at the console of a daemon."""

    def __init__(self, client: httpx.AsyncClient, double: Provider) -> None:
        self.client, self.double = client, double

    async def say(self, text: str, thread: str = "console/a", *, watched: bool = False) -> int:
        body, headers = {"thread": thread, "text": text}, {"Wakeful-Live": str(int(watched))}
        answer = await self.client.post("/api/messages", json=body, headers=headers)
        return int(answer.json()["event"])

    async def asked(self, times: int) -> None:
        """Wait until the provider was asked so often."""
        async with self.double.news:
            await self.double.news.wait_for(lambda: len(self.double.asked) >= times)

    async def end(self, event: int) -> dict[str, Any]:
        async with self.client.stream("GET", f"/api/events/{event}/stream") as stream:
            async for _ in stream.aiter_lines():
                pass
        found: dict[str, Any] = (await self.client.get(f"/api/events/{event}")).json()
        assert found["state"] in ENDED
        return found

    async def read(self, thread: str = "console/a") -> list[str]:
        found = (await self.client.get("/api/thread", params={"key": thread})).json()
        return [one["text"] for one in found["messages"] if one["role"] == "assistant"]


@asynccontextmanager
async def talking(folder: Path, script: str, more: str = "") -> AsyncIterator[Person]:
    async with provider(parse(script)) as double:
        (folder / "agent.toml").write_text(SETTINGS.format(url=double.url, more=more))
        async with open_service(folder) as service, asyncio.timeout(PATIENCE):
            token = read_token(folder / ".wakeful" / "token")
            async with httpx.AsyncClient(
                base_url=service.url,
                headers={"Authorization": f"Bearer {token}"},
                trust_env=False,
                timeout=PATIENCE,
            ) as client:
                yield Person(client, double)


def turns(step: str) -> str:
    return f"[[turn]]\nwhen = '.'\nsteps = [{step}]\n"


@pytest.mark.parametrize("header", ["", ", as_date = true"])
async def test_P20_a_429_of_two_minutes_is_not_followed_by_a_storm(
    tmp_path: Path, header: str
) -> None:
    script = turns(f'{{ fail = "rate-limit", after = 120{header} }}')
    async with talking(tmp_path, script) as person:
        first = await person.say("hello")
        await person.asked(1)
        others = [await person.say("hello", f"console/{n}") for n in range(5)]
        await asyncio.sleep(1.5)  # long enough for any client's own retries
        assert len(person.double.asked) == 1
        for event in (first, *others):
            state = (await person.client.get(f"/api/events/{event}")).json()["state"]
            assert state not in ENDED  # nothing is lost: it waits


async def test_P20_after_the_time_that_was_asked_for_everybody_is_answered(tmp_path: Path) -> None:
    script = turns('{ fail = "rate-limit", after = 6, times = 1 }, { say = "Here I am." }')
    async with talking(tmp_path, script) as person:
        events = [await person.say("hello")]
        await person.asked(1)
        events.append(await person.say("hello", "console/b"))
        assert [(await person.end(event))["state"] for event in events] == ["done", "done"]
        moments = [asked.at for asked in person.double.asked]
        assert moments[1] - moments[0] >= 6
        assert await person.read() == ["Here I am."]


@pytest.mark.parametrize(
    ("step", "more", "sentence"),
    [
        ('{ fail = "empty" }', "", "empty answer"),
        ('{ fail = "cut-off", say = "one two three four" }', "", "cut off"),
        ('{ fail = "endless" }', "total_timeout = 1", "did not come to an end"),
        ('{ fail = "auth" }', "", "refused the key"),
    ],
)
@pytest.mark.parametrize("watched", [False, True])
async def test_what_is_no_answer_ends_in_a_notice(
    tmp_path: Path, step: str, more: str, sentence: str, watched: bool
) -> None:
    async with talking(tmp_path, turns(step), more) as person:
        event = await person.say("hello", watched=watched)
        await person.asked(1)  # whoever follows an event before it runs is a watcher, too
        ended = await person.end(event)
        said = " ".join([ended["reply"] or "", ended["error"] or "", *await person.read()])
        assert sentence in said
        assert len(person.double.asked) <= 2  # an empty answer is asked for once more
        assert person.double.asked[0].body.get("stream", False) == watched
