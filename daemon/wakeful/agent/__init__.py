"""From an agent folder to a graph that runs events. The only room that knows LangChain."""

from __future__ import annotations

from wakeful.agent.build import Agent, build_agent

__all__ = ["Agent", "build_agent"]
