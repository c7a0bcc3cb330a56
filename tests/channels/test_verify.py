"""Signatures against vectors that their makers have published, and against what is nearly right."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import pytest

from tests.channels.loading import channel, inner

webhook = channel("webhook")
verify = inner(webhook, "verify").verify
Headers = inner(webhook, "request").Headers

NOW = 1_614_265_330
GITHUB_SECRET = "It's a Secret to Everybody"
GITHUB_SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
STANDARD_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
STANDARD_BODY = b'{"test": 2432232314}'
STANDARD_SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
SLACK_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
SLACK_BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmib"
    b"IGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
SLACK_SIGNATURE = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"


def check(
    scheme: dict[str, Any],
    headers: dict[str, str] | list[tuple[str, str]],
    body: bytes,
    now: float = NOW,
) -> Any:
    pairs = headers.items() if isinstance(headers, dict) else headers
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs]
    return verify(webhook.Settings(verify=scheme), Headers(raw), body, now)


def github(signature: str, body: bytes = b"Hello, World!") -> Any:
    scheme = {"scheme": "github", "secret": GITHUB_SECRET}
    return check(scheme, {"X-Hub-Signature-256": signature}, body)


def test_W4_the_vector_of_github() -> None:
    proof = github(GITHUB_SIGNATURE)
    assert proof.body and not proof.id


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        GITHUB_SIGNATURE[:-1],
        GITHUB_SIGNATURE.upper(),
        GITHUB_SIGNATURE.removeprefix("sha256="),
        "sha1=" + GITHUB_SIGNATURE[7:],
        GITHUB_SIGNATURE + " ",
        "é" * 71,
    ],
)
def test_W4_what_is_nearly_githubs(signature: str) -> None:
    assert github(signature) is None


def test_W7_two_signatures_of_github_are_none() -> None:
    header = ("x-hub-signature-256", GITHUB_SIGNATURE)
    scheme = {"scheme": "github", "secret": GITHUB_SECRET}
    assert check(scheme, [header, header], b"Hello, World!") is None
    assert github(GITHUB_SIGNATURE, b"Hello, World?") is None


def standard(
    now: float = NOW, family: str = "webhook", body: bytes = STANDARD_BODY, **changed: str
) -> Any:
    sent = {
        f"{family}-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        f"{family}-timestamp": str(NOW),
        f"{family}-signature": STANDARD_SIGNATURE,
    }
    sent |= {f"{family}-{name}": value for name, value in changed.items()}
    return check({"scheme": "standard", "secret": STANDARD_SECRET}, sent, body, now)


@pytest.mark.parametrize("family", ["webhook", "svix"])
def test_W4_the_vector_of_standard_webhooks(family: str) -> None:
    proof = standard(family=family)
    assert proof.id == "msg_p5jXN8AQM9LWM0D4loKWxJek"


def test_W4_one_good_signature_of_several_is_enough() -> None:
    assert standard(
        signature=f"v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= {STANDARD_SIGNATURE}"
    )
    assert standard(signature=f"{STANDARD_SIGNATURE} v2,abc")


@pytest.mark.parametrize("signature", ["", "v1", "v1,", "v2," + STANDARD_SIGNATURE[3:], "v1a,x"])
def test_W5_an_unknown_scheme_is_not_believed(signature: str) -> None:
    assert standard(signature=signature) is None
    assert standard(signature=STANDARD_SIGNATURE[:-2]) is None


def test_W1_an_old_or_future_delivery_is_not_believed() -> None:
    assert standard(now=NOW + 299) and standard(now=NOW - 299)
    assert standard(now=NOW + 600) is None and standard(now=NOW - 600) is None
    for sent in ("", "x", "-5", "1" * 400, "1614265330.5", "²"):
        assert standard(timestamp=sent) is None


def test_the_id_of_standard_webhooks_is_signed() -> None:
    assert standard(id="msg_other") is None
    assert standard(body=STANDARD_BODY + b" ") is None


def stripe_like(signature: str, body: bytes = b'{"id":"evt_1"}', now: float = NOW) -> Any:
    scheme = {
        "scheme": "hmac",
        "secret": "whsec_test",
        "header": "Stripe-Signature",
        "field": "v1",
        "timestamp": "t",
        "signed": "{timestamp}.{body}",
    }
    return check(scheme, {"Stripe-Signature": signature}, body, now)


def test_W4_a_list_of_fields_like_stripes() -> None:
    signed = hmac.new(b"whsec_test", f'{NOW}.{{"id":"evt_1"}}'.encode(), hashlib.sha256).hexdigest()
    assert stripe_like(f"t={NOW},v1={signed},v0=abc")
    assert stripe_like(f"t={NOW},v1={'0' * 64},v1={signed}")
    for wrong in (
        f"v1={signed}",
        f"t={NOW},v0={signed}",
        f"t={NOW + 1},v1={signed}",
        f"t={NOW},t={NOW + 1},v1={signed}",
        f"t={NOW},v1=",
        f"t={NOW},{signed}",
        ",=,=,",
    ):
        assert stripe_like(wrong) is None
    assert stripe_like(f"t={NOW},v1={signed}", now=NOW + 301) is None


def test_W4_the_vector_of_slack_by_settings_alone() -> None:
    scheme = {
        "scheme": "hmac",
        "secret": SLACK_SECRET,
        "header": "X-Slack-Signature",
        "prefix": "v0=",
        "timestamp": "X-Slack-Request-Timestamp",
        "signed": "v0:{timestamp}:{body}",
    }
    sent = {"X-Slack-Request-Timestamp": "1531420618", "X-Slack-Signature": SLACK_SIGNATURE}
    assert check(scheme, sent, SLACK_BODY, 1531420618)
    assert check(scheme, sent, SLACK_BODY, 1531420618 + 600) is None
    assert check(scheme, {**sent, "X-Slack-Request-Timestamp": ""}, SLACK_BODY, 1531420618) is None


@pytest.mark.parametrize(("algorithm", "encoding"), [("sha1", "hex"), ("sha512", "base64")])
def test_W4_other_hashes_and_codings(algorithm: str, encoding: str) -> None:
    made = hmac.new(b"s3", b"body", algorithm)
    value = made.hexdigest() if encoding == "hex" else base64.b64encode(made.digest()).decode()
    scheme = {"scheme": "hmac", "secret": "s3", "algorithm": algorithm, "encoding": encoding}
    assert check(scheme, {"x-signature": value}, b"body")
    assert check(scheme, {"x-signature": value}, b"bode") is None


def test_W4_a_bare_hex_signature_like_giteas() -> None:
    scheme = {"scheme": "hmac", "secret": "s3", "header": "X-Gitea-Signature"}
    signed = hmac.new(b"s3", b"body", hashlib.sha256).hexdigest()
    assert check(scheme, {"X-Gitea-Signature": signed}, b"body")


BEARER = {"scheme": "bearer", "secret": "t0ken"}


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("authorization", "")],
        [("authorization", "Bearer ")],
        [("authorization", "Bearer")],
        [("authorization", "t0ken")],
        [("authorization", "bearer t0ken")],
        [("authorization", "Bearer T0KEN")],
        [("authorization", "Bearer t0ken "), ("x", "y")],
        [("authorization", "Bearer t0ken"), ("Authorization", "Bearer t0ken")],
        [("x-authorization", "Bearer t0ken")],
    ],
)
def test_W7_only_one_exact_bearer_token_counts(headers: list[tuple[str, str]]) -> None:
    assert check(BEARER, headers, b"{}") is None


def test_W4_a_token_in_a_header_of_its_own_like_gitlabs() -> None:
    assert check(BEARER, {"authorization": "Bearer t0ken"}, b"{}")
    scheme = {**BEARER, "header": "X-Gitlab-Token"}
    assert check(scheme, {"X-Gitlab-Token": "t0ken"}, b"{}")
    assert check(scheme, {"X-Gitlab-Token": "Bearer t0ken"}, b"{}") is None
