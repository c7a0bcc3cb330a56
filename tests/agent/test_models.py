"""From a name in agent.toml to a model, and a sentence when that cannot be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langchain.chat_models import base
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from wakeful.agent.models import ModelUnusable, build_model
from wakeful.config.models import PROVIDERS, options_for, provider_of
from wakeful.errors import FolderFaulty


@dataclass(frozen=True)
class Settings:
    model: str = "rehearsal"
    fallbacks: tuple[str, ...] = ()
    model_options: dict[str, Any] = field(default_factory=dict)


async def resolve(name: str) -> SecretStr:
    known = {"secret:openai": "k-from-keyring", "${BASE}": "http://127.0.0.1:9"}
    return SecretStr(known.get(name, name))


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def test_options_are_passed_through_and_secrets_resolved() -> None:
    options = {
        "api_key": "secret:openai",
        "base_url": "${BASE}",
        "max_tokens": 50,
        "default_headers": {"x-team": "secret:openai"},
    }
    model: Any = await build_model(Settings("openai:gpt-5", (), options), resolve)
    assert isinstance(model, ChatOpenAI)
    assert model.openai_api_key == SecretStr("k-from-keyring")
    assert model.openai_api_base == "http://127.0.0.1:9"
    assert model.max_tokens == 50
    assert model.default_headers == {"x-team": "k-from-keyring"}


async def test_X4_a_key_that_is_written_out_is_known_as_a_secret() -> None:
    told: list[str] = []

    async def note(text: str) -> SecretStr:
        told.append(text)
        return SecretStr(text)

    options = {"api_key": "canary-key", "temperature": 0.5, "default_headers": {"x-token": "c2"}}
    await build_model(Settings("openai:gpt-5", (), options), note)
    assert told == ["canary-key", "c2"]


async def test_openai_keeps_nothing_waits_a_minute_and_leaves_retries_to_the_line() -> None:
    model: Any = await build_model(Settings("gpt-5", (), {"api_key": "k"}), resolve)
    assert (model.store, model.request_timeout, model.max_retries) == (False, 60.0, 0)
    assert (model.line.bounds.idle, model.line.bounds.tries) == (60.0, 2)
    chosen = {"api_key": "k", "store": True, "timeout": 5, "max_retries": 99}
    model = await build_model(Settings("openai:gpt-5", (), chosen), resolve)
    assert (model.store, model.request_timeout, model.max_retries) == (True, 5.0, 0)
    assert (model.line.bounds.idle, model.line.bounds.tries) == (5.0, 5)


async def test_a_guarded_model_is_still_what_others_look_for() -> None:
    model = await build_model(Settings("claude-test", (), {"api_key": "k"}), resolve)
    assert isinstance(model, ChatAnthropic)
    assert type(model).__name__ == "ChatAnthropic"


async def test_rehearsal_reads_its_script_from_the_agent_s_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[[turn]]\nwhen = '.'\nsteps = [{ say = \"mine\" }]\n")
    settings = Settings(model_options={"script": "mine.toml"})
    model = await build_model(settings, resolve, folder=tmp_path)
    assert (await model.ainvoke("x")).text == "mine"
    (tmp_path / "mine.toml").write_text("[[turn]]\nwen = 'x'\n")
    with pytest.raises(FolderFaulty, match=r"mine\.toml:2: wen: .*did you mean"):
        await build_model(settings, resolve, folder=tmp_path)


def test_each_model_gets_the_options_that_are_its_own() -> None:
    names = ("openai:a", "openai:b", "anthropic:c")
    options = {"api_key": "k", "timeout": 9, "anthropic:c": {"api_key": "other"}}
    shared = {"api_key": "k", "timeout": 9}
    assert options_for("openai:a", "openai:a", names, options) == shared
    assert options_for("openai:b", "openai:a", names, options) == shared
    other = {"api_key": "other", "timeout": 9}
    assert options_for("anthropic:c", "openai:a", names, options) == other


async def test_a_sub_agent_s_model_of_another_provider_takes_no_key_of_the_main_one() -> None:
    settings = Settings("openai:gpt-5", (), {"api_key": "k", "base_url": "http://127.0.0.1:9"})
    with pytest.raises(ModelUnusable, match=r"claude-x.*ANTHROPIC_API_KEY"):
        await build_model(settings, resolve, name="anthropic:claude-x")
    model: Any = await build_model(settings, resolve, name="openai:gpt-5-mini")
    assert (model.model_name, model.openai_api_base) == ("gpt-5-mini", "http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            Settings("openai:gpt-5"),
            r"set OPENAI_API_KEY, or write api_key = \"secret:OPENAI_API_KEY\"",
        ),
        (Settings("claude-x"), "set ANTHROPIC_API_KEY"),
        (Settings("ollama:x"), "pip install langchain-ollama"),
        (Settings("opnai:x"), 'did you mean "openai"'),
        (Settings("mystery"), "write its provider before it"),
        (Settings("rehearsal", (), {"scrpt": "x"}), 'did you mean "script"'),
        (Settings("rehearsal", ("openai:gpt-5",)), "OPENAI_API_KEY"),
        (Settings("openai:x", (), {"api_key": "k", "timeout": "soon"}), "timeout.*number"),
        (Settings("openai:x", (), {"api_key": "k", "temperature": "hot"}), "temperature"),
    ],
)
async def test_what_is_missing_is_said_with_what_to_do(settings: Settings, sentence: str) -> None:
    with pytest.raises(ModelUnusable, match=sentence):
        await build_model(settings, resolve)


async def test_a_refused_option_does_not_show_the_key() -> None:
    options = {"api_key": "k-very-secret", "temperature": "hot"}
    with pytest.raises(ModelUnusable) as caught:
        await build_model(Settings("openai:x", (), options), resolve)
    assert "very-secret" not in str(caught.value)


def test_providers_are_read_from_names() -> None:
    names = ("openai:gpt-5", "gpt-5", "o3-mini", "claude-x", "gemini-x", "rehearsal", "who")
    assert [provider_of(name) for name in names] == [
        *("openai", "openai", "openai", "anthropic", "google_genai", "rehearsal", "")
    ]


def test_the_providers_of_langchain_are_known_by_name() -> None:
    assert set(base._BUILTIN_PROVIDERS) <= PROVIDERS
