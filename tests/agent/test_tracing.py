"""Nothing goes to LangSmith because of a variable that happens to be set."""

from __future__ import annotations

import os

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
