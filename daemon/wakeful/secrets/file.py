"""Secrets in one encrypted file, for machines without a keyring.

AES-256-GCM, each value bound to its name. The key is a file of its own, outside the agent folder,
so that a backup of the folder alone gives nothing away.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wakeful import files
from wakeful.errors import KeyringLocked, KeyringTrouble, KeyringUnreachable
from wakeful.secrets.backends import SERVICE

CREDENTIAL = "keyring-key"  # as systemd's LoadCredential= hands it over
KEY_BYTES = 32
NONCE_BYTES = 12
VERSION = 1


class EncryptedFile:
    """One file of secrets, replaced as a whole under a lock."""

    def __init__(self, path: Path, key_file: Path) -> None:
        self.path, self.key_file = path, key_file

    def get(self, name: str) -> str | None:
        stored = self._items().get(name)
        return None if stored is None else self._decrypt(name, stored)

    def set(self, name: str, value: str) -> None:
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = self._cipher(create=True).encrypt(nonce, value.encode(), _bound(name))
        with self._changed() as items:
            items[name] = base64.b64encode(nonce + sealed).decode()

    def delete(self, name: str) -> bool:
        with self._changed() as items:
            return items.pop(name, None) is not None

    def _decrypt(self, name: str, stored: str) -> str:
        from cryptography.exceptions import InvalidTag

        try:
            raw = base64.b64decode(stored, validate=True)
            opened = self._cipher().decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], _bound(name))
            return bytes(opened).decode()
        except (InvalidTag, ValueError):
            message = f"{self.path} does not open with the key in {self._key_path()}"
            raise KeyringLocked(message) from None

    def _items(self) -> dict[str, str]:
        try:
            content = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise KeyringUnreachable(f"{self.path} cannot be read: {error}") from None
        if not isinstance(content, dict) or content.get("version") != VERSION:
            raise KeyringUnreachable(f"{self.path} is not a file of secrets of this version")
        items: dict[str, str] = content["items"]
        return items

    @contextmanager
    def _changed(self) -> Iterator[dict[str, str]]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _locked(self.path.with_name(self.path.name + ".lock")):
                items = self._items()
                yield items
                files.put(self.path, json.dumps({"version": VERSION, "items": items}).encode())
        except OSError as error:
            raise KeyringUnreachable(f"{self.path} cannot be written: {error}") from None

    def _cipher(self, *, create: bool = False) -> Any:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(read_key(self._key_path(), create=create))

    def _key_path(self) -> Path:
        given = os.environ.get("CREDENTIALS_DIRECTORY")
        if given and (Path(given) / CREDENTIAL).is_file():
            return Path(given) / CREDENTIAL
        return self.key_file


def read_key(path: Path, *, create: bool = False) -> bytes:
    """The key, made when a first secret is stored. Refuses one that others can read."""
    if create and not path.exists():
        _make_key(path)
    try:
        mode = path.stat().st_mode
        key = path.read_bytes()
    except OSError as error:
        raise KeyringLocked(f"the key file {path} cannot be read: {error.strerror}") from None
    if mode & 0o077:
        raise KeyringTrouble(f"the key file {path} can be read by others; run chmod 600 on it")
    if len(key) != KEY_BYTES:
        raise KeyringLocked(f"the key file {path} must hold {KEY_BYTES} bytes")
    return key


def _make_key(path: Path) -> None:
    """Written aside and linked: nobody ever reads half a key, and the first one made wins."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        _write(aside, secrets.token_bytes(KEY_BYTES))
        try:
            os.link(aside, path)
        except FileExistsError:
            return
        finally:
            aside.unlink()
    except OSError as error:
        raise KeyringUnreachable(f"the key file {path} cannot be made: {error.strerror}") from None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl

    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _bound(name: str) -> bytes:
    return f"{SERVICE}\0{name}".encode()
