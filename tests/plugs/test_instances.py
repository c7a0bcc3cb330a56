from __future__ import annotations

from pathlib import Path
from types import ModuleType

from wakeful.plugs.instances import contract_faults, instance, read_instance, settings_faults
from wakeful.plugs.modules import load_module

PLUG = """
from contextlib import asynccontextmanager
from typing import Literal
from pydantic import BaseModel, SecretStr, field_validator

class Hook(BaseModel):
    scheme: Literal["github"]
    secret: SecretStr

class Settings(BaseModel):
    verify: Literal["none"] | Hook
    port: int = 1

    @field_validator("verify", mode="before")
    @classmethod
    def _decided(cls, value):
        if isinstance(value, dict) and "secret" not in value:
            raise ValueError("security: a hook needs a secret")
        return value

@asynccontextmanager
async def open(settings, host):
    yield None
"""


def module(folder: Path, text: str = PLUG) -> ModuleType:
    (folder / "hook.py").write_text(text)
    return load_module("channels", "hook", folder / "hook.py")


def said(folder: Path, text: str) -> list[str]:
    path = folder / "ci.toml"
    path.write_text(text)
    written, faults = read_instance("ci", path, "channels/ci.toml")
    if written is not None:
        modules: dict[str, ModuleType | None] = {"hook": module(folder), "lost": None}
        plug, more = instance(written, modules, "channel", "d")
        assert (plug is None) == any(not f.warning for f in more) or written.use == "lost"
        faults = [*faults, *more]
    return [f"{'SECURITY ' if fault.security else ''}{fault}" for fault in faults]


def test_an_instance_in_order(tmp_path: Path) -> None:
    assert said(tmp_path, 'use = "hook"\nverify = "none"\n') == []


def test_names_of_secrets_are_not_judged_before_they_are_resolved(tmp_path: Path) -> None:
    text = 'use = "hook"\nport = "${PORT}"\nverify = {scheme = "github", secret = "secret:X"}\n'
    assert said(tmp_path, text) == []


def test_W5_a_hook_without_a_secret_is_a_security_fault(tmp_path: Path) -> None:
    assert said(tmp_path, 'use = "hook"\nport = 2\nverify = {scheme = "github"}\n') == [
        "SECURITY channels/ci.toml:3: verify: a hook needs a secret"
    ]


def test_faults_with_nearest_word_and_line(tmp_path: Path) -> None:
    found = said(tmp_path, 'use = "hok"\n')
    assert found == ['channels/ci.toml:1: use: there is no channel "hok"; did you mean "hook"?']
    found = said(tmp_path, 'use = "hook"\nverify = "none"\nprot = 1\n')
    assert found == ['channels/ci.toml:3: prot: there is no setting "prot"; did you mean "port"?']
    assert said(tmp_path, "use = 1\n")[0].startswith("channels/ci.toml:1: use: write the name")
    assert "it is not TOML" in said(tmp_path, "use = \n")[0]


def test_a_module_that_did_not_load_is_told_once_at_its_own_file(tmp_path: Path) -> None:
    assert said(tmp_path, 'use = "lost"\n') == []


def test_a_token_in_the_file_is_a_warning(tmp_path: Path) -> None:
    token = "whsec_" + "A" * 32
    text = f'use = "hook"\nverify = {{scheme = "github", secret = "{token}"}}\n'
    [fault] = said(tmp_path, text)
    assert "looks like a secret" in fault and token not in fault


def test_the_contract_of_a_module(tmp_path: Path) -> None:
    assert list(contract_faults(module(tmp_path), "f")) == []
    keys = [fault.key for fault in contract_faults(module(tmp_path, "Settings = 1\n"), "f")]
    assert keys == ["Settings", "open"]
    found = contract_faults(module(tmp_path, PLUG + "\ndef open(a): pass\n"), "f")
    assert [fault.key for fault in found] == ["open"]


def test_a_validator_that_fails_is_a_fault_and_not_the_end_of_the_scan(tmp_path: Path) -> None:
    broken = PLUG.replace("if isinstance(value, dict)", 'if value["x"]')
    values = {"verify": "none"}
    [fault] = settings_faults(module(tmp_path, broken), values, "channels/ci.toml", {})
    assert "they cannot be checked: TypeError" in str(fault)
