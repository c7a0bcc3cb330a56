from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.channels.loading import channel

Settings = channel("webhook").Settings
GITHUB = {"scheme": "github", "secret": "s3"}


@pytest.mark.parametrize(
    "verify",
    [
        None,
        {},
        {"scheme": "github"},
        {"scheme": "github", "secret": ""},
        {"scheme": "github", "secret": "  "},
        {"secret": "s3"},
        {"scheme": "sha9", "secret": "s3"},
        {"scheme": "standard", "secret": "whsec_not base64!"},
        {"scheme": "hmac", "secret": "s3", "signed": "nothing"},
        {"scheme": "hmac", "secret": "s3", "signed": "{timestamp}.{body}"},
        {"scheme": "hmac", "secret": "s3", "timestamp": "t"},
        {"scheme": "github", "secret": "s3", "header": "x"},
        "",
        "None",
        "nothing",
        True,
        [],
    ],
)
def test_W5_without_proof_it_refuses_to_start(verify: Any) -> None:
    with pytest.raises(ValidationError):
        Settings(verify=verify)


def test_W5_a_missing_secret_is_a_matter_of_security() -> None:
    for values in ({}, {"verify": {"scheme": "github"}}, {"verify": {**GITHUB, "secret": ""}}):
        with pytest.raises(ValidationError, match="security: a hook needs a secret"):
            Settings.model_validate(values)


def test_none_must_be_written_out() -> None:
    assert Settings(verify="none").verify == "none"


@pytest.mark.parametrize(
    "wrong",
    [
        {"prompt": "{{ payload.x "},
        {"thread": "{% for %}"},
        {"deliver": "console"},
        {"deliver": "console:"},
        {"body_limit": 0},
        {"body_limit": 10**9},
        {"window": 0},
        {"promt": "x"},
    ],
)
def test_wrong_settings_are_faults(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Settings(verify=GITHUB, **wrong)


def test_the_secret_is_not_shown() -> None:
    assert "s3cr3t" not in repr(Settings(verify={"scheme": "github", "secret": "s3cr3t"}))


def test_W5_check_names_the_file_and_the_key(tmp_path: Path) -> None:
    from wakeful.plugs import check

    (tmp_path / "agent.toml").write_text('model = "rehearsal"\n')
    (tmp_path / "AGENTS.md").write_text("You help.\n")
    (tmp_path / "channels").mkdir()
    hook = tmp_path / "channels" / "ci.toml"
    hook.write_text('use = "webhook"\nprompt = "hi"\n')
    [fault] = [one for one in check(tmp_path) if one.file == "channels/ci.toml"]
    assert fault.key == "verify" and fault.security and "secret" in fault.message
    hook.write_text('use = "webhook"\nverify = { scheme = "standard", secret = "secret:CI" }\n')
    faults = [one for one in check(tmp_path) if one.file == "channels/ci.toml"]
    assert not [one for one in faults if "base64" in one.message]
