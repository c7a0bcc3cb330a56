"""An edited folder: what is built anew for it, and what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from tests.agent.kit import Clock, Scripted
from wakeful.agent import Agent, build_agent
from wakeful.config import load
from wakeful.plugs import Folder
from wakeful.store import open_store

PROMPT = "---\ndescription: Looks things up.\nmodel: small\n---\nLook it up.\n"


class Maker:
    """Makes models, and counts which."""

    def __init__(self) -> None:
        self.made: list[str] = []

    async def __call__(self, settings: Any, resolve: Any, *, name: str, **_: Any) -> BaseChatModel:
        self.made.append(name or settings.model)
        return Scripted(say=lambda messages: AIMessage("Yes."))


@pytest.fixture
def maker() -> Maker:
    return Maker()


async def edited(path: Path, maker: Maker, *texts: str) -> Agent:
    """An agent that has seen each of these versions of its agent.toml."""
    (path / "subagents").mkdir()
    (path / "subagents" / "finder.md").write_text(PROMPT)
    toml = path / "agent.toml"
    toml.write_text(texts[0])
    settings, clock = load(path), Clock()
    async with open_store(f"sqlite:///{path}/state.db", clock=clock, owner="test") as store:
        folder = Folder(path, settings)
        agent = await build_agent(settings, folder, store, clock, None, make_model=maker)
        for text in texts[1:]:
            toml.write_text(text)
            await agent.refresh()
        return agent


async def test_a_model_is_made_once_for_one_set_of_options(tmp_path: Path, maker: Maker) -> None:
    plain = 'model = "big"\n'
    await edited(tmp_path, maker, plain, f"{plain}[limits]\nsteps = 5\n", plain)
    assert sorted(maker.made) == ["big", "small"]


async def test_other_options_make_other_models_and_let_the_old_ones_go(
    tmp_path: Path, maker: Maker
) -> None:
    texts = [f'model = "big"\n[model_options]\ntimeout = {n}\n' for n in range(5, 25)]
    agent = await edited(tmp_path, maker, *texts)
    assert len(maker.made) == 2 * len(texts)
    assert len(agent._models) == 2


async def test_a_subagent_that_names_the_main_model_has_the_same_one(
    tmp_path: Path, maker: Maker
) -> None:
    await edited(tmp_path, maker, 'model = "small"\n')
    assert maker.made == ["small"]
