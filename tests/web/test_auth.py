from __future__ import annotations

import stat
from pathlib import Path

import httpx
import pytest

from tests.service.fakes import HandClock
from tests.web.conftest import Site
from wakeful.errors import Refused
from wakeful.web import Auth
from wakeful.web.auth import CODE_SECONDS, CODES_AT_ONCE, COOKIE_SECONDS, read_token

TOKEN = "s" * 43


def auth(clock: HandClock | None = None, token: str = TOKEN) -> Auth:
    return Auth(token, clock=clock or HandClock())


def test_the_first_start_makes_a_private_token(tmp_path: Path) -> None:
    path = tmp_path / ".wakeful" / "token"
    made = Auth.load(path, clock=HandClock())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert made.holds([b"Bearer " + read_token(path).encode()])
    again = Auth.load(path, clock=HandClock())
    assert again.knows(made.new_cookie())


def test_X15_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o644)
    with pytest.raises(Refused, match="delete it"):
        Auth.load(path, clock=HandClock())


def test_an_empty_token_file_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.touch(mode=0o600)
    with pytest.raises(Refused, match="holds no token"):
        Auth.load(path, clock=HandClock())


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [b""],
        [b"Bearer "],
        [b"Bearer"],
        [TOKEN.encode()],
        [b"bearer " + TOKEN.encode()],
        [b"Bearer " + TOKEN.upper().encode()],
        [b"Bearer " + TOKEN.encode() + b" "],
        [b"Basic " + TOKEN.encode()],
        [b"Bearer " + TOKEN.encode(), b"Bearer " + TOKEN.encode()],
        [b"Bearer \xff\xfe"],
    ],
)
def test_W7_only_one_exact_bearer_token_counts(headers: list[bytes]) -> None:
    assert not auth().holds(headers)


def test_the_right_token_counts() -> None:
    assert auth().holds([b"Bearer " + TOKEN.encode()])


def test_a_code_opens_one_session_once() -> None:
    door = auth()
    code = door.new_code()
    cookie = door.redeem(f" {code[:5].lower()}-{code[5:]} ")
    assert cookie and door.knows(cookie)
    assert door.redeem(code) is None


def test_a_code_is_good_for_a_minute() -> None:
    clock = HandClock()
    door = auth(clock)
    code = door.new_code()
    clock.move(CODE_SECONDS)
    assert door.redeem(code) is None


def test_many_codes_push_out_the_oldest() -> None:
    clock = HandClock()
    door = auth(clock)
    codes = []
    for _ in range(CODES_AT_ONCE + 1):
        clock.move(1)
        codes.append(door.new_code())
    assert door.redeem(codes[0]) is None
    assert door.redeem(codes[1])


@pytest.mark.parametrize("wrong", ["", "x", "\N{SNOWMAN}", "A" * 10])
def test_a_wrong_code_opens_nothing(wrong: str) -> None:
    door = auth()
    door.new_code()
    assert door.redeem(wrong) is None


def test_a_cookie_ends_and_cannot_be_made_elsewhere() -> None:
    clock = HandClock()
    door = auth(clock)
    cookie = door.new_cookie()
    until, _, rest = cookie.partition(".")
    assert not door.knows(f"{int(until) + 1}.{rest}")
    assert not auth(clock, "o" * 43).knows(cookie)
    assert not door.knows("") and not door.knows("9999999999.x.y") and not door.knows("\udc80")
    clock.move(COOKIE_SECONDS + 1)
    assert not door.knows(cookie)


async def test_the_token_buys_a_code(site: Site, client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/codes")
    assert answer.status_code == 201
    assert site.auth.redeem(answer.json()["code"])


def test_two_daemons_on_one_host_have_cookies_of_different_names() -> None:
    assert auth().cookie_name != auth(token="o" * 43).cookie_name
