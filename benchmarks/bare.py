"""What Wakeful is measured against: a bare deep agent with AsyncSqliteSaver behind Starlette.

Run as `python -m benchmarks.bare DATABASE MODEL_URL`; it prints its port.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from deepagents import create_deep_agent
from deepagents.backends import FilesystemBackend
from langchain.chat_models import init_chat_model
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


def build(database: str, model_url: str) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncSqliteSaver.from_conn_string(database) as saver:
            model = init_chat_model(
                "openai:bench", base_url=model_url, api_key="none", use_responses_api=False
            )
            root = f"{database}.files"
            app.state.agent = create_deep_agent(
                model,
                system_prompt="You are helpful.",
                backend=FilesystemBackend(root, virtual_mode=True),
                checkpointer=saver,
            )
            yield

    async def message(request: Request) -> JSONResponse:
        body = await request.json()
        config = {"configurable": {"thread_id": body["thread"]}}
        state = await request.app.state.agent.ainvoke(
            {"messages": [HumanMessage(body["text"])]}, config, durability="sync"
        )
        return JSONResponse({"reply": state["messages"][-1].text})

    return Starlette(routes=[Route("/messages", message, methods=["POST"])], lifespan=lifespan)


def main() -> None:
    database, model_url = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(build(database, model_url), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
