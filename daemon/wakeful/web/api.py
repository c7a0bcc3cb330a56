"""The API of the operator, as JSON; a test holds it and `openapi.py` together."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wakeful.events import EFFECT_STATES, EVENT_STATES, OPERATOR, WAIT_STATES, Event
from wakeful.host import Host
from wakeful.web.answers import json_answer
from wakeful.web.auth import CODE_SECONDS, Auth
from wakeful.web.inputs import (
    NewMessage,
    event_number,
    maybe_number,
    new_decision,
    new_message,
    number,
    one_of,
    seen_digest,
)
from wakeful.web.openapi import document
from wakeful.web.operations import Operations
from wakeful.web.shapes import event_json, message_json, wait_json
from wakeful.web.stream import event_stream

LIMIT, RUNS, MOST = 200, 50, 1000  # rows: of conversations, of what ran, of any one answer
NAME_LENGTH = 12  # of a conversation that nobody named
LIVE = "wakeful-live"  # header of a sender who is about to open the stream


class Api:
    """Handlers over one Host; each parses, asks, and shapes the answer."""

    def __init__(self, host: Host, auth: Auth, operations: Operations | None = None) -> None:
        self._host, self._view = host, host.view
        self._auth, self._operations = auth, operations

    def routes(self) -> list[Route]:
        return [
            Route("/api/messages", self.post_message, methods=["POST"]),
            Route("/api/events/{event}/stream", self.stream),
            Route("/api/events/{event}/stop", self.stop, methods=["POST"]),
            Route("/api/events/{event}/replay", self.replay, methods=["POST"]),
            Route("/api/events/{event}", self.event),
            Route("/api/threads", self.threads),
            Route("/api/thread", self.thread),
            Route("/api/waits", self.waits),
            Route("/api/waits/{id}", self.decide, methods=["POST"]),
            Route("/api/runs", self.runs),
            Route("/api/runs/{event}", self.run),
            Route("/api/effects", self.effects),
            Route("/api/schedules", self.schedules),
            Route("/api/schedules/{name}/run", self.run_schedule, methods=["POST"]),
            Route("/api/skills", self.skills),
            Route("/api/skills/{name}", self.skill),
            Route("/api/skills/{name}/accept", self.accept_skill, methods=["POST"]),
            Route("/api/status", self.status),
            Route("/api/codes", self.new_code, methods=["POST"]),
            Route("/api/openapi.json", self.openapi),
        ]

    async def post_message(self, request: Request) -> Response:
        message = await new_message(request)
        live = request.headers.get(LIVE) == "1"
        accepted = await self._host.accept(to_event(message, self._host, live=live))
        answer = {"event": accepted.seq, "thread": accepted.thread_key}
        return json_answer({**answer, "duplicate": accepted.duplicate}, 202)

    async def threads(self, request: Request) -> Response:
        limit = number(request, "limit", LIMIT, most=MOST)
        rows = await self._view.threads(limit=limit, before=request.query_params.get("before"))
        return json_answer({"threads": rows})

    async def thread(self, request: Request) -> Response:
        key = request.query_params.get("key", "")
        limit = number(request, "limit", LIMIT, most=MOST)
        before = maybe_number(request, "before")
        found = await self._view.thread(key)
        if found is None:
            raise HTTPException(404, "There is no such thread; GET /api/threads lists them.")
        messages = await self._view.messages(key, limit=limit, before=before)
        shaped = [message_json(one) for one in messages]
        return json_answer({"key": key, "state": found.get("state"), "messages": shaped})

    async def event(self, request: Request) -> Response:
        return json_answer(event_json(await self._event(request)))

    async def stream(self, request: Request) -> Response:
        seq = event_number(request)
        await self._event(request)
        return event_stream(self._view, seq, request)

    async def stop(self, request: Request) -> Response:
        await self._event(request)
        return json_answer({"stopped": await self._host.stop(event_number(request))})

    async def waits(self, request: Request) -> Response:
        state = request.query_params.get("state", "open")
        if state not in (*WAIT_STATES, "all"):
            raise HTTPException(400, f"'state' must be all or one of {', '.join(WAIT_STATES)}.")
        found = await self._view.waits(state=None if state == "all" else state)
        return json_answer({"waits": [wait_json(one) for one in found]})

    async def decide(self, request: Request) -> Response:
        decision = await new_decision(request)
        return json_answer(wait_json(await self._host.decide(request.path_params["id"], decision)))

    async def runs(self, request: Request) -> Response:
        state = one_of(request, "state", EVENT_STATES)
        limit = number(request, "limit", RUNS, most=MOST)
        rows = await self._view.runs(limit=limit, state=state)
        return json_answer({"runs": rows})

    async def run(self, request: Request) -> Response:
        found = await self._view.run(event_number(request))
        if found is None:
            raise HTTPException(404, "There is no such run; GET /api/runs lists them.")
        return json_answer(found)

    async def effects(self, request: Request) -> Response:
        state = one_of(request, "state", EFFECT_STATES)
        limit = number(request, "limit", RUNS, most=MOST)
        return json_answer({"effects": await self._view.effects(state=state, limit=limit)})

    async def schedules(self, request: Request) -> Response:
        return json_answer({"schedules": await self._view.schedules()})

    async def run_schedule(self, request: Request) -> Response:
        seq = await self._commands().run_schedule(request.path_params["name"])
        return json_answer({"event": seq}, 202)

    async def skills(self, request: Request) -> Response:
        return json_answer({"skills": await self._commands().skills()})

    async def skill(self, request: Request) -> Response:
        return json_answer(await self._commands().skill(request.path_params["name"]))

    async def accept_skill(self, request: Request) -> Response:
        name, digest = request.path_params["name"], await seen_digest(request)
        return json_answer(await self._commands().accept_skill(name, digest))

    async def replay(self, request: Request) -> Response:
        await self._event(request)
        return json_answer({"event": await self._commands().replay(event_number(request))}, 202)

    async def status(self, request: Request) -> Response:
        return json_answer(await self._view.status())

    async def new_code(self, request: Request) -> Response:
        """Who has the token may let a browser in."""
        return json_answer({"code": self._auth.new_code(), "seconds": CODE_SECONDS}, 201)

    async def openapi(self, request: Request) -> Response:
        return json_answer(document())

    async def _event(self, request: Request) -> dict[str, object]:
        found = await self._view.event(event_number(request))
        if found is None:
            raise HTTPException(404, "There is no such event.")
        return found

    def _commands(self) -> Operations:
        if self._operations is None:
            raise HTTPException(501, "This daemon does not offer that over the API.")
        return self._operations


def to_event(message: NewMessage, host: Host, *, live: bool = False) -> Event:
    """The operator's words as an event of the console; `/new` in front of them starts afresh."""
    key = message.id or host.new_id()
    thread = message.thread or f"console/{host.new_id()[:NAME_LENGTH]}"
    command, _, rest = message.text.partition(" ")
    fresh = command == "/new" and bool(rest.strip())
    return Event(
        source="console",
        keys=(f"console/{key}",),
        principal=OPERATOR,
        thread_key=thread,
        text=rest.strip() if fresh else message.text,
        channel="console",
        address=f"console:{thread.partition('/')[2]}",
        fresh=fresh,
        data={"live": True} if live else {},
    )
