"""What group commit is measured against: an endpoint that fsyncs one insert for each request.

Run as `python -m benchmarks.fsynced DATABASE`; it prints its port.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


def build(database: str) -> Starlette:
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(
        "CREATE TABLE inbox (seq INTEGER PRIMARY KEY, thread TEXT, id TEXT UNIQUE, payload TEXT)"
    )
    lock = asyncio.Lock()

    def insert(body: dict[str, str]) -> int:
        row = (body["thread"], body["id"], json.dumps(body))
        statement = "INSERT INTO inbox (thread, id, payload) VALUES (?, ?, ?)"
        return int(connection.execute(statement, row).lastrowid or 0)

    async def message(request: Request) -> JSONResponse:
        body = await request.json()
        async with lock:
            seq = await asyncio.to_thread(insert, body)
        return JSONResponse({"event": seq}, status_code=202)

    return Starlette(routes=[Route("/messages", message, methods=["POST"])])


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(build(sys.argv[1]), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
