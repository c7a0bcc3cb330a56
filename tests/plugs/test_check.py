from __future__ import annotations

from pathlib import Path

import pytest

from wakeful.plugs import check
from wakeful.plugs.ours import available

ALERTS = "alerts.route: failures are shown"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose secrets are in a file of its own: tests ask no keyring of the machine."""
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    key_file = folder.parent / "keyring.key"
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name == "agent.toml":
            text += f'[secrets]\nbackend = "file"\nkey_file = "{key_file}"\n'
        path.write_text(text, "utf-8")


def said(folder: Path) -> list[str]:
    return [
        f"{'SECURITY ' if fault.security else ''}{fault}"
        for fault in check(folder)
        if ALERTS not in str(fault)
    ]


def test_a_folder_in_order(agent: Path) -> None:
    write(agent, {"agent.toml": 'model = "rehearsal"\n[alerts]\nroute = ["console:alerts"]\n'})
    assert check(agent) == []


def test_unset_alerts_are_a_warning(agent: Path) -> None:
    write(agent, {"agent.toml": 'model = "rehearsal"\n'})
    [fault] = check(agent)
    assert fault.warning and ALERTS in str(fault)


def test_everything_at_once(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWN_HOST", "example.com")
    write(
        agent,
        {
            "agent.toml": 'model = "rehearsal"\n[model_options]\napi_key = "secret:NO_SUCH_KEY"\n'
            'base_url = "https://${KNOWN_HOST}/${NO_SUCH_PORT}"\n'
            '[use]\ntools = ["send", "snd"]\n[alerts]\nroute = ["pagr:x"]\n',
            "channels/ci.toml": 'use = "webhook"\nprompt = "x"\n',
            "channels/cd.toml": 'use = "webhook"\n'
            'verify = { scheme = "github", secret = "secret:NO_SUCH_HOOK" }\n',
            "channels/pager.toml": 'use = "wbhook"\n',
            "schedules/daily.md": "---\ncron: 99 9 * * *\n---\nReport.\n",
            "skills/expenses/SKILL.md": "---\nname: expense\ndescription: D\n---\nDo.\n",
            "subagents/r.md": "---\ndescription: D\ntools: [fetch]\n---\nYou.\n",
            "tools/bad.py": "def pay(:\n",
            "tools/x.py": "",
            "tools/x/__init__.py": 'def x() -> str:\n    """X."""\n    return ""\n',
        },
    )
    found = said(agent)
    places = [each.split(": ")[0] for each in found]
    assert places == [
        "agent.toml:3",
        "agent.toml:4",
        "agent.toml:6",
        "agent.toml:8",
        "channels/cd.toml:2",
        "SECURITY channels/ci.toml",
        "channels/pager.toml:1",
        "schedules/daily.md:2",
        "skills/expenses/SKILL.md:2",
        "subagents/r.md",
        "tools/bad.py:1",
        "tools/x.py",
    ]
    assert "NO_SUCH_KEY" in found[0] and "NO_SUCH_PORT" in found[1]
    assert 'did you mean "send"?' in found[2]
    assert "NO_SUCH_HOOK" in found[4]


def test_plugs_are_looked_at_even_when_the_settings_are_faulty(agent: Path) -> None:
    write(agent, {"agent.toml": "modle = 1\n", "tools/bad.py": "def pay(:\n"})
    assert [each.split(": ")[0] for each in said(agent)] == [
        "agent.toml",
        "agent.toml:1",
        "tools/bad.py:1",
    ]


def test_X2_an_operator_port_that_the_world_can_reach(agent: Path) -> None:
    write(agent, {"agent.toml": 'model = "rehearsal"\n[server]\nbind = "0.0.0.0:7777"\n'})
    [found] = said(agent)
    assert found.startswith("SECURITY agent.toml:3: server.bind: the operator's page")


def test_a_secret_that_is_there_is_looked_at_by_its_plug(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = 'use = "webhook"\nverify = { scheme = "standard", secret = "secret:CANARY_HOOK" }\n'
    write(agent, {"agent.toml": 'model = "rehearsal"\n', "channels/ci.toml": hook})
    monkeypatch.setenv("CANARY_HOOK", "canary, no base64")
    [found] = said(agent)
    assert found.startswith("channels/ci.toml:2: verify.secret: a secret of Standard Webhooks")
    assert "canary" not in found
    monkeypatch.setenv("CANARY_HOOK", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert said(agent) == []


def test_a_mistyped_folder_is_not_silently_nothing(agent: Path) -> None:
    write(
        agent,
        {
            "agent.toml": 'model = "rehearsal"\n',
            "tool/a.py": "",
            "Skills/x/SKILL.md": "",
            "AGENT.md": "",
            "notes/x.md": "",
            ".venv/x": "",
        },
    )
    assert said(agent) == [
        'AGENT.md: it is not read; did you mean "AGENTS.md"?',
        'Skills: it is not read; did you mean "skills"?',
        'tool: it is not read; did you mean "tools"?',
    ]


def test_no_folder_at_all(agent: Path) -> None:
    assert "`wakeful init` writes one" in said(agent / "nowhere")[0]


def test_what_comes_with_wakeful_is_in_order(agent: Path) -> None:
    skills = ", ".join(f'"{name}"' for name in available()["skills"])
    write(agent, {"agent.toml": f'model = "rehearsal"\n[use]\nskills = [{skills}]\n'})
    assert said(agent) == []


def test_models_that_the_start_would_refuse(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write(
        agent,
        {
            "agent.toml": 'model = "openai:gpt-5"\nfallbacks = ["claud", "opnai:x"]\n',
            "subagents/slow.md": "---\ndescription: Slow.\nmodel: gpt\n---\nBe slow.\n",
        },
    )
    key, whose, subagent, provider = said(agent)  # a warning comes last
    assert key.startswith("agent.toml:1: model: ") and "set OPENAI_API_KEY" in key
    assert whose.startswith('agent.toml:2: fallbacks: whose model is "claud"?')
    assert subagent.startswith("subagents/slow.md: model: whose model is")
    assert provider.startswith("agent.toml:2: fallbacks: ") and 'mean "openai"' in provider


def test_a_key_in_the_options_is_a_key(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = 'model = "openai:gpt-5"\n[model_options]\napi_key = "any"\n'
    write(agent, {"agent.toml": settings})
    assert said(agent) == []
