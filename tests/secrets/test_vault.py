from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from wakeful.config import SecretSettings
from wakeful.errors import KeyringAbsent, KeyringUnreachable, SecretMissing
from wakeful.secrets import EncryptedFile, Secrets, SystemKeyring, open_secrets
from wakeful.secrets.vault import choose_backend, default_key_file


class Shelf:
    """A backend in memory that says in which thread it was called."""

    def __init__(self, **kept: str) -> None:
        self.kept = kept
        self.threads: set[str] = set()

    def get(self, name: str) -> str | None:
        self.threads.add(threading.current_thread().name)
        return self.kept.get(name)

    def set(self, name: str, value: str) -> None:
        self.kept[name] = value

    def delete(self, name: str) -> bool:
        return self.kept.pop(name, None) is not None


class Absent(Shelf):
    def get(self, name: str) -> str | None:
        raise KeyringAbsent


class Hanging(Shelf):
    """A D-Bus that does not answer."""

    def __init__(self) -> None:
        super().__init__()
        self.release = threading.Event()
        self.calls = 0

    def get(self, name: str) -> str | None:
        self.calls += 1
        self.release.wait()
        return None


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    backend = Hanging()
    yield backend
    backend.release.set()


async def test_the_environment_stands_before_the_keyring() -> None:
    backend = Shelf(A="keyring", B="keyring")
    secrets = Secrets(backend, environment={"A": "environment", "B": ""})
    assert (await secrets.resolve("secret:A")).get_secret_value() == "environment"
    assert backend.threads == set()
    assert (await secrets.resolve("secret:B")).get_secret_value() == "keyring"
    assert backend.threads == {"wakeful-keyring"}


async def test_a_secret_does_not_show_itself() -> None:
    secret = await Secrets(Shelf(A="canary"), environment={}).resolve("secret:A")
    assert "canary" not in f"{secret} {secret!r}"


async def test_variables_inside_a_text() -> None:
    secrets = Secrets(Shelf(), environment={"HOST": "example.com"})
    assert (
        await secrets.resolve("https://${HOST}/x")
    ).get_secret_value() == "https://example.com/x"
    with pytest.raises(SecretMissing, match="variable PORT is not set"):
        await secrets.resolve("${HOST}:${PORT}")


async def test_a_missing_secret_says_what_to_do() -> None:
    secrets = Secrets(Shelf(), environment={})
    with pytest.raises(SecretMissing, match="wakeful secrets set GITHUB"):
        await secrets.resolve("secret:GITHUB")
    with pytest.raises(SecretMissing, match="no name of a secret"):
        await secrets.resolve("secret:a b")


async def test_no_keyring_is_no_matter_while_the_environment_has_it() -> None:
    secrets = Secrets(Absent(), environment={"A": "x"})
    assert (await secrets.resolve("secret:A")).get_secret_value() == "x"
    with pytest.raises(KeyringAbsent, match='"B" is not in the environment'):
        await secrets.resolve("secret:B")


async def test_a_keyring_that_hangs_blocks_neither_loop_nor_caller(hanging: Hanging) -> None:
    secrets = Secrets(hanging, environment={}, timeout=0.05)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    with pytest.raises(KeyringUnreachable, match="did not answer"):
        await secrets.resolve("secret:A")
    ticking.cancel()
    assert ticks > 10


def test_check_asks_a_keyring_that_hangs_only_once(hanging: Hanging) -> None:
    secrets = Secrets(hanging, environment={"C": "x"}, timeout=0.05)
    assert "did not answer" in (secrets.missing("secret:A") or "")
    assert "did not answer" in (secrets.missing("secret:B") or "")
    assert hanging.calls == 1


def test_missing_says_why_or_nothing() -> None:
    secrets = Secrets(Shelf(B="x"), environment={"A": "x"})
    assert secrets.missing("secret:A") is None
    assert secrets.missing("secret:B") is None
    assert secrets.missing("${A}") is None
    assert "neither in the environment" in (secrets.missing("secret:C") or "")
    assert "NOWHERE is not set" in (secrets.missing("${NOWHERE}") or "")
    absent = Secrets(Absent(), environment={})
    assert "There is no keyring here" in (absent.missing("secret:C") or "")


async def test_a_tree_of_settings() -> None:
    secrets = Secrets(Shelf(HOOK="canary-1"), environment={"HOST": "example.com", "K": "canary-2"})
    given = {
        "verify": {"scheme": "github", "secret": "secret:HOOK"},
        "url": "https://${HOST}/",
        "api_key": "${K}",
        "hosts": ["plain", "${HOST}"],
        "limit": 3,
    }
    made = await secrets.resolve_tree(given)
    assert made == {
        "verify": {"scheme": "github", "secret": SecretStr("canary-1")},
        "url": "https://example.com/",
        "api_key": SecretStr("canary-2"),
        "hosts": ["plain", "example.com"],
        "limit": 3,
    }
    assert secrets.known == {"canary-1", "canary-2"}
    assert given["url"] == "https://${HOST}/"


async def test_set_and_delete() -> None:
    secrets = Secrets(Shelf(), environment={})
    await secrets.set("A", "canary")
    assert (await secrets.resolve("secret:A")).get_secret_value() == "canary"
    assert await secrets.delete("A") is True
    assert await secrets.delete("A") is False
    with pytest.raises(SecretMissing):
        await secrets.set("../x", "y")


def test_the_backend_is_chosen_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert isinstance(choose_backend(tmp_path, SecretSettings()), SystemKeyring)
    file = choose_backend(tmp_path, SecretSettings(backend="file"))
    assert isinstance(file, EncryptedFile)
    assert file.path == tmp_path / ".wakeful" / "secrets.json"
    assert file.key_file == tmp_path / "config" / "wakeful" / "keyring.key"
    own = choose_backend(tmp_path, SecretSettings(backend="file", key_file=tmp_path / "k"))
    assert isinstance(own, EncryptedFile) and own.key_file == tmp_path / "k"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert default_key_file() == Path.home() / ".config" / "wakeful" / "keyring.key"


async def test_secrets_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    settings = SecretSettings(backend="file", key_file=tmp_path / "home" / "key")
    await open_secrets(tmp_path / "agent", settings).set("CANARY", "value")
    again = open_secrets(tmp_path / "agent", settings)
    assert (await again.resolve("secret:CANARY")).get_secret_value() == "value"


async def test_X4_what_the_environment_calls_a_secret_is_known_from_the_start() -> None:
    secrets = Secrets(
        Shelf(),
        environment={
            "SHOP_API_KEY": "canary-key-1",
            "PGPASSWORD": "canary-pass-2",
            "DATABASE": "postgresql://bot:canary%2Fpass-3@db/x",
            "API_TOKEN_FILE": "/run/secrets/token",
            "TOKEN_URL": "https://example.com/token",
            "KEY": "short",
            "KEYBOARD": "qwertz-de",
        },
    )
    assert secrets.known == {"canary-key-1", "canary-pass-2", "canary/pass-3"}
    assert secrets.hide("it was canary-key-1") == "it was [redacted]"


async def test_X4_secrets_written_out_or_inside_a_text_are_known_too() -> None:
    secrets = Secrets(Shelf(), environment={"APP_TOKEN": "tok-en1", "HOST": "example.com"})
    await secrets.resolve_tree({"verify": {"secret": "canary-plain"}, "name": "not one"})
    await secrets.resolve("https://${HOST}/?t=${APP_TOKEN}")
    assert "not one" not in secrets.known
    assert secrets.known == {"canary-plain", "tok-en1", "https://example.com/?t=tok-en1"}
