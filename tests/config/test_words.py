from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from wakeful.config import explain, key_lines, nearest, unknown
from wakeful.config.words import fields_at


class Github(BaseModel):
    model_config = ConfigDict(extra="forbid")
    scheme: Literal["github"]
    secret: SecretStr


class Bearer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    scheme: Literal["bearer"]
    token: str


class Hook(BaseModel):
    model_config = ConfigDict(extra="forbid")
    verify: Literal["none"] | Annotated[Github | Bearer, Field(discriminator="scheme")]
    limit: int = 1
    title: str = ""

    @field_validator("limit")
    @classmethod
    def _safe(cls, value: int) -> int:
        if value > 9:
            raise ValueError("security: too much")
        return value


def faults(text: str, values: dict[str, object]) -> list[tuple[int | None, str, str, bool]]:
    with pytest.raises(ValidationError) as caught:
        Hook.model_validate(values)
    found = explain(caught.value, Hook, file="channels/ci.toml", lines=key_lines(text))
    return [(each.line, each.key, each.message, each.security) for each in found]


def test_nearest() -> None:
    assert nearest("modle", ["model", "fallbacks"]) == "model"
    assert nearest("MODEL", ["model"]) == "model"
    assert nearest("quux", ["model"]) is None


def test_unknown_lists_all_when_none_is_near() -> None:
    assert unknown("tool", "zzz", ["b", "a"]) == 'there is no tool "zzz"; there are: a, b'
    assert unknown("tool", "snd", ["send"]) == 'there is no tool "snd"; did you mean "send"?'
    assert "none could stand here" in unknown("tool", "x", [])


def test_a_key_of_a_union_is_named_as_it_was_written() -> None:
    text = 'limit = 1\nverify = { scheme = "github", secrt = "x" }'
    found = faults(text, {"limit": 1, "verify": {"scheme": "github", "secrt": "x"}})
    assert (
        2,
        "verify.secrt",
        'there is no setting "secrt"; did you mean "secret"?',
        False,
    ) in found
    assert any(key == "verify.secret" and "needed" in message for _, key, message, _ in found)


def test_of_a_choice_between_a_word_and_a_table_only_what_was_meant_is_told() -> None:
    text = 'verify = { scheme = "githb" }'
    assert faults(text, {"verify": {"scheme": "githb"}}) == [
        (1, "verify.scheme", 'there is no value "githb"; did you mean "github"?', False)
    ]
    assert [each[1] for each in faults(text, {"verify": {"scheme": "github"}})] == ["verify.secret"]
    assert faults('verify = "non"', {"verify": "non"})[0][1] == "verify"


def test_a_validator_can_say_that_it_is_about_security() -> None:
    found = faults("limit = 10", {"verify": "none", "limit": 10})
    assert found == [(1, "limit", "too much", True)]


def test_a_secret_in_a_setting_that_is_shown() -> None:
    found = faults('title = "secret:X"', {"verify": "none", "title": SecretStr("canary-1")})
    assert "shown to people" in found[0][2]
    assert "canary" not in str(found)


def test_no_fault_repeats_the_value() -> None:
    token = "ghp_" + "a" * 36
    found = faults(f'limit = "{token}"', {"verify": "none", "limit": token})
    assert token not in str(found)


def test_fields_below_a_path() -> None:
    assert set(fields_at(Hook, ("verify",))) == {"scheme", "secret", "token"}
    assert set(fields_at(Hook, ())) == {"verify", "limit", "title"}
    assert set(fields_at(Hook, ("limit",))) == set()
