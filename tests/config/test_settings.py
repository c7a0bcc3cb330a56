from __future__ import annotations

import pytest
from pydantic import ValidationError

from wakeful.config import SECURITY, Settings, is_loopback, split_bind


def test_defaults() -> None:
    settings = Settings(model="rehearsal")
    assert settings.server.bind == "127.0.0.1:7777"
    assert settings.server.public_bind is None
    assert settings.use.tools == ("send", "remember", "no_reply", "fetch_url")
    assert settings.use.schedules == ("housekeeping",)
    assert settings.use.channels == ("console",)
    assert settings.limits.concurrency == 8
    assert settings.tracing is False


def test_settings_are_frozen() -> None:
    settings = Settings(model="rehearsal")
    with pytest.raises(ValidationError):
        settings.model = "other"
    with pytest.raises(ValidationError):
        settings.server.bind = "127.0.0.1:1"


def test_the_environment_is_left_to_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAKEFUL_MODEL", "from-environment")
    assert Settings(model="given").model == "given"


@pytest.mark.parametrize("bind", ["0.0.0.0:7777", "[::]:7777", "192.168.1.5:80", "example.com:80"])
def test_X2_the_operator_listens_on_loopback_only(bind: str) -> None:
    with pytest.raises(ValidationError, match=SECURITY):
        Settings.model_validate({"model": "rehearsal", "server": {"bind": bind}})


@pytest.mark.parametrize("bind", ["127.0.0.1:0", "[::1]:7777", "localhost:65535", "127.8.0.1:1"])
def test_loopback_in_all_its_spellings(bind: str) -> None:
    host, _ = split_bind(bind)
    assert is_loopback(host)
    made = Settings.model_validate({"model": "rehearsal", "server": {"bind": bind}})
    assert made.server.bind == bind


@pytest.mark.parametrize(
    "table",
    [
        {"server": {"bind": "7777"}},
        {"server": {"bind": "127.0.0.1:http"}},
        {"server": {"bind": "127.0.0.1:70000"}},
        {"server": {"public_bind": "127.0.0.1:7777"}},
        {"server": {"public_url": "bot.example.com"}},
        {"server": {"public_url": "https://u:p@bot.example.com"}},
        {"server": {"public_url": "https://bot.example.com/?x=1"}},
        {"timezone": "Mars/Olympus"},
        {"timezone": "../etc/passwd"},
        {"timezone": ""},
        {"store": {"url": "mysql://x"}},
        {"store": {"url": "postgresql+psycopg://bot@db/x"}},
        {"limits": {"steps": 0}},
        {"alerts": {"route": ["slack"]}},
        {"retention": {"identities": 1}},
        {"secrets": {"backend": "plain"}},
        {"model": ""},
    ],
)
def test_what_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"model": "rehearsal", **table})


def test_model_options_are_passed_through() -> None:
    options = {"base_url": "http://127.0.0.1:1/v1", "timeout": 5, "deep": {"er": [1]}}
    assert Settings(model="openai:x", model_options=options).model_options == options
