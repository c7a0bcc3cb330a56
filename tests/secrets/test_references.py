from __future__ import annotations

import pytest

from wakeful.secrets.references import (
    fill,
    is_reference,
    keeps_secret,
    references,
    secret_name,
    variables,
)


@pytest.mark.parametrize("text", ["secret:GITHUB", "${HOST}", "https://${HOST}/x"])
def test_references(text: str) -> None:
    assert is_reference(text)


@pytest.mark.parametrize("text", ["", "plain", "$HOME", "a secret: b", "${}", "${1}", "{HOST}"])
def test_what_stands_for_itself(text: str) -> None:
    assert not is_reference(text)


def test_names_and_variables() -> None:
    assert secret_name("secret:a-b.c") == "a-b.c"
    assert secret_name("${A}") is None
    assert variables("${A}:${B_2}") == ["A", "B_2"]
    assert fill("${A}:${B}", {"A": "${B}", "B": "2"}) == "${B}:2"


def test_which_settings_hold_secrets() -> None:
    assert keeps_secret(("verify", "secret"))
    assert keeps_secret(("model_options", "api_key"))
    assert keeps_secret(("passwords", 0))
    assert not keeps_secret(("base_url",))
    assert not keeps_secret(())


def test_references_inside_settings() -> None:
    values = {"a": "secret:X", "b": [1, {"c": "${Y}"}], "d": "plain"}
    assert list(references(values)) == [(("a",), "secret:X"), (("b", 1, "c"), "${Y}")]
