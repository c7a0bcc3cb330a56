"""Nothing goes to LangSmith because of a variable that happens to be set."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from langsmith.utils import tracing_is_enabled

from wakeful.agent.tracing import VARIABLES, set_tracing


@pytest.mark.parametrize("name", VARIABLES)
def test_X4_tracing_is_off_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "true")
    set_tracing(False)
    assert os.environ[name] == "false"
    assert not tracing_is_enabled()


@pytest.mark.parametrize(("variable", "shown"), [("true", "True"), ("false", "False")])
def test_the_settings_let_the_environment_say(variable: str, shown: str) -> None:
    """In a process of its own: what was turned off once stays off."""
    script = (
        "from langsmith.utils import tracing_is_enabled\n"
        "from wakeful.agent.tracing import set_tracing\n"
        "set_tracing(True)\n"
        "print(tracing_is_enabled())\n"
    )
    env = os.environ | {"LANGSMITH_TRACING": variable}
    told = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == shown
