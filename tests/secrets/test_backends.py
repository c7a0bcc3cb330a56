from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import keyring.backend
import keyring.backends.chainer
import keyring.backends.fail
import keyring.backends.null
import keyring.errors
import pytest

from wakeful.errors import KeyringAbsent, KeyringLocked, KeyringTrouble, KeyringUnreachable
from wakeful.secrets.backends import SERVICE, SystemKeyring


class MemoryKeyring(keyring.backend.KeyringBackend):
    """A keyring that works, or fails with the error that it is given."""

    priority = 1  # pyright: ignore[reportAssignmentType]

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}
        self.error = error

    def get_password(self, service: str, username: str) -> str | None:
        if self.error:
            raise self.error
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.error:
            raise self.error
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.kept:
            raise keyring.errors.PasswordDeleteError("not found")
        del self.kept[service, username]


class PlaintextKeyring(MemoryKeyring):
    """Named as the one of keyrings.alt, which is picked silently where it is installed."""


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)


def test_set_get_delete() -> None:
    ring = MemoryKeyring()
    keyring.set_keyring(ring)
    system = SystemKeyring()
    assert system.get("a") is None
    system.set("a", "canary")
    assert ring.kept == {(SERVICE, "a"): "canary"}
    assert system.get("a") == "canary"
    assert system.delete("a") is True
    assert system.delete("a") is False


@pytest.mark.parametrize("ring", [keyring.backends.fail.Keyring, keyring.backends.null.Keyring])
def test_absent(ring: Callable[[], keyring.backend.KeyringBackend]) -> None:
    keyring.set_keyring(ring())
    with pytest.raises(KeyringAbsent, match='backend = "file"'):
        SystemKeyring().get("a")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (keyring.errors.NoKeyringError(), KeyringAbsent),
        (keyring.errors.KeyringLocked("locked"), KeyringLocked),
        (keyring.errors.InitError("Prompt dismissed"), KeyringLocked),
        (keyring.errors.KeyringError("odd"), KeyringUnreachable),
        (ConnectionRefusedError("no bus"), KeyringUnreachable),
    ],
)
def test_absent_locked_and_unreachable_are_told_apart(
    error: Exception, told: type[KeyringTrouble]
) -> None:
    keyring.set_keyring(MemoryKeyring(error))
    for call in (lambda: SystemKeyring().get("a"), lambda: SystemKeyring().set("a", "x")):
        with pytest.raises(KeyringTrouble) as caught:
            call()  # type: ignore[no-untyped-call]
        assert type(caught.value) is told


def test_plain_text_is_refused_and_nothing_is_written() -> None:
    ring = PlaintextKeyring()
    keyring.set_keyring(ring)
    with pytest.raises(KeyringTrouble, match="in plain text"):
        SystemKeyring().set("a", "canary")
    with pytest.raises(KeyringTrouble, match="in plain text"):
        SystemKeyring().get("a")
    assert ring.kept == {}


def test_plain_text_behind_a_chain_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = keyring.backends.chainer.ChainerBackend()  # type: ignore[no-untyped-call]
    members = [MemoryKeyring(), PlaintextKeyring()]
    monkeypatch.setattr(keyring.backends.chainer.ChainerBackend, "backends", members)
    keyring.set_keyring(chain)
    with pytest.raises(KeyringTrouble, match="in plain text"):
        SystemKeyring().get("a")


HERE = shutil.which("dbus-run-session") and shutil.which("gnome-keyring-daemon")
IN_CI = os.environ.get("CI") == "true"
needs_secret_service = pytest.mark.skipif(
    not HERE and not IN_CI, reason="needs dbus-daemon and gnome-keyring: `make services`"
)
KEEP = """
from wakeful.secrets.backends import SystemKeyring
ring = SystemKeyring()
ring.set("canary", "value 1")
assert ring.get("canary") == "value 1"
assert ring.delete("canary") and not ring.delete("canary")
print("kept")
"""
ASK = """
from wakeful.secrets.backends import SystemKeyring
try:
    SystemKeyring().get("canary")
except Exception as error:
    print(type(error).__name__)
"""
UNLOCKED = """
eval "$(printf 'test\\n' | gnome-keyring-daemon --unlock --components=secrets 2>/dev/null)"
"$@"
"""


def in_session(folder: Path, program: str, shell: str = '"$@"') -> str:
    """Run a program in a session of its own, with a D-Bus that ends with it."""
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    command = ["dbus-run-session", "--", "bash", "-c", shell, "_", sys.executable, "-c", program]
    environment = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(runtime)}
    environment.pop("DISPLAY", None)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout.strip().rpartition("\n")[2] or done.stderr


@needs_secret_service
def test_a_real_secret_service(tmp_path: Path) -> None:
    assert in_session(tmp_path, KEEP, UNLOCKED) == "kept"


@needs_secret_service
def test_a_real_secret_service_that_nobody_unlocked(tmp_path: Path) -> None:
    assert in_session(tmp_path, ASK) == "KeyringLocked"


def test_a_machine_without_d_bus(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=False
    )
    told = "KeyringAbsent" if sys.platform == "linux" else ""
    assert told in done.stdout
