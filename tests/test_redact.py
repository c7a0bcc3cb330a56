from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeful.events import Done, Step
from wakeful.redact import MARK, SHORTEST, everywhere, hide, looks_secret, redact

CANARIES = [
    "sk-proj-Abc123Abc123Abc123Abc1",
    "sk-ant-api03-aaaaaaaaaaaaaaaaaaaa",
    "sk_live_51Habcdefghij",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11AAAAAAA0aaaaaaaaaaaa_bbbb",
    "glpat-aaaaaaaaaaaaaaaaaaaa",
    "xoxb-1234567890-1234567890123-AbCdEfGhIjKl",
    "xapp-1-A0123456789-1234567890-abcdef",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "SyA-1234567890abcdefghijklmnopqrstu",
    "ya29.a0AfH6SMBxxxxxxxxxxxxxxx",
    "hf_abcdefghijklmnopqrstuvwxyz",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAbc==\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEow cut off here",
]
KNOWN = st.text(
    st.characters(codec="utf-8", exclude_characters="[redacted]"), min_size=8, max_size=30
).filter(lambda text: text.strip() == text)


@pytest.mark.parametrize("canary", CANARIES)
@pytest.mark.parametrize("around", ["{}", "key={} next", '{{"token": "{}"}}', "({}), and"])
def test_X4_a_token_is_taken_out_of_any_text(canary: str, around: str) -> None:
    text = around.format(canary)
    assert canary not in redact(text)
    assert MARK in redact(text)
    assert looks_secret(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer abcdefghijklmnop1234", f"Authorization: Bearer {MARK}"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", f"Authorization: Basic {MARK}"),
        ("postgresql://bot:hunter2@db/x", f"postgresql://bot:{MARK}@db/x"),
        ("https://:tok@example.com/", f"https://:{MARK}@example.com/"),
    ],
)
def test_what_the_secret_was_stays_readable(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The basic idea is to ask, and the bearer of bad news is a task-runner.",
        "https://example.com:8080/a@b and 12:30@noon",
        "risk-averse sk-short pk_live ghp_x eyJ.eyJ whsec_ AKIA",
        "webhook/ci/pull/42 at 2027-03-14T07:00:00Z, digest 3bda143c9f",
        "mailto:ann@example.com",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text, ["never"]) == text
    assert not looks_secret(text)


@given(KNOWN, st.text(max_size=20), st.text(max_size=20))
def test_X4_a_known_secret_is_gone_in_every_spelling(secret: str, before: str, after: str) -> None:
    spellings = [
        secret,
        json.dumps(secret)[1:-1],
        quote(secret, safe=""),
        base64.b64encode(secret.encode()).decode(),
        base64.urlsafe_b64encode(secret.encode()).decode().rstrip("="),
    ]
    for spelling in spellings:
        assert spelling not in redact(f"{before}{spelling}{after}", [secret])


@given(st.text(), st.lists(KNOWN, max_size=3))
def test_doing_it_twice_is_nothing(text: str, known: list[str]) -> None:
    once = redact(text, known)
    assert redact(once, known) == once


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert redact("abcd-efgh-ijkl", ["abcd", "abcd-efgh-ijkl"]) == MARK


def test_a_very_short_secret_cannot_be_told_from_text() -> None:
    assert redact("a b c", ["a"]) == "a b c"
    assert redact("the pass is abcd", ["a" * SHORTEST, "abcd"]) == f"the pass is {MARK}"


def test_X4_what_merely_looks_like_a_secret_may_be_meant_and_is_not_hidden() -> None:
    assert hide(f"use {CANARIES[0]} or hunter2", ["hunter2"]) == f"use {CANARIES[0]} or {MARK}"
    assert hide("the pass is abcd", ["abcd"]) == "the pass is abcd"


@given(KNOWN, st.text(max_size=20), st.text(max_size=20))
def test_X4_hiding_finds_every_spelling(secret: str, before: str, after: str) -> None:
    for spelling in (secret, json.dumps(secret)[1:-1], quote(secret, safe="")):
        assert spelling not in hide(f"{before}{spelling}{after}", [secret])


def test_every_text_of_a_value_is_cleaned_and_what_is_clean_stays_itself() -> None:
    step = Step(kind="tool", agent="main", name="x", started_at=1, ended_at=2, summary="canary!")
    done = Done(silent="why", steps=(step,))
    clean = everywhere(done, lambda text: hide(text, ["canary!"]))
    assert clean.steps[0].summary == MARK
    assert clean.steps[0].ended_at == 2
    assert everywhere(done, lambda text: hide(text, ["another"])) is done
    assert everywhere({"a": ["canary!"], 1: None}, str.upper) == {"A": ["CANARY!"], 1: None}
