from __future__ import annotations

import json
import multiprocessing
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeful.errors import KeyringLocked, KeyringTrouble, KeyringUnreachable
from wakeful.secrets.file import CREDENTIAL, KEY_BYTES, EncryptedFile


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)


def vault(folder: Path) -> EncryptedFile:
    return EncryptedFile(folder / "agent" / "secrets.json", folder / "home" / "keyring.key")


def test_set_get_delete(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    assert kept.get("a") is None
    kept.set("a", "canary-1")
    kept.set("b", "canary-2 \u00fc\n")
    kept.set("a", "canary-3")
    again = vault(tmp_path)
    assert (again.get("a"), again.get("b")) == ("canary-3", "canary-2 \u00fc\n")
    assert again.delete("a") is True
    assert again.delete("a") is False
    assert again.get("a") is None


def test_X4_the_file_holds_no_value_in_clear_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    kept.set("a", "canary-1")
    assert b"canary" not in kept.path.read_bytes()
    for path in (kept.path, kept.key_file):
        assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in kept.key_file.parent.iterdir()] == ["keyring.key"]


def test_the_same_value_twice_looks_different(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    kept.set("a", "same")
    kept.set("b", "same")
    items = json.loads(kept.path.read_text())["items"]
    assert items["a"] != items["b"]


def test_a_value_cannot_be_moved_to_another_name(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    kept.set("harmless", "canary")
    content = json.loads(kept.path.read_text())
    content["items"]["powerful"] = content["items"]["harmless"]
    kept.path.write_text(json.dumps(content))
    with pytest.raises(KeyringLocked):
        kept.get("powerful")


def test_another_key_is_locked_not_missing(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    kept.set("a", "canary")
    kept.key_file.write_bytes(b"x" * KEY_BYTES)
    with pytest.raises(KeyringLocked, match="does not open"):
        kept.get("a")
    kept.key_file.unlink()
    with pytest.raises(KeyringLocked, match="cannot be read"):
        kept.get("a")


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    kept.set("a", "canary")
    kept.key_file.chmod(0o640)
    with pytest.raises(KeyringTrouble, match="chmod 600"):
        kept.get("a")


def test_a_key_of_the_wrong_length_is_refused(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    kept.set("a", "canary")
    kept.key_file.write_bytes(b"short")
    with pytest.raises(KeyringLocked, match="32 bytes"):
        kept.get("a")


def test_a_credential_of_systemd_stands_before_the_key_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = tmp_path / "credentials" / CREDENTIAL
    credential.parent.mkdir()
    credential.write_bytes(b"k" * KEY_BYTES)
    credential.chmod(0o400)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(credential.parent))
    kept = vault(tmp_path)
    kept.set("a", "canary")
    assert kept.get("a") == "canary"
    assert not kept.key_file.exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"version": 2}', '{"items": {}}'])
def test_a_damaged_file_is_not_taken_for_an_empty_one(tmp_path: Path, content: str) -> None:
    kept = vault(tmp_path)
    kept.path.parent.mkdir()
    kept.path.write_text(content)
    with pytest.raises(KeyringUnreachable):
        kept.get("a")
    with pytest.raises(KeyringUnreachable):
        kept.set("a", "x")
    assert kept.path.read_text() == content


def test_O21_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = vault(tmp_path)
    kept.set("a", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(KeyringUnreachable, match="No space"):
        kept.set("a", "new")
    monkeypatch.undo()
    assert kept.get("a") == "old"
    assert sorted(each.name for each in kept.path.parent.iterdir()) == [
        "secrets.json",
        "secrets.json.lock",
    ]


def _store(folder: Path, worker: int) -> None:
    for number in range(5):
        vault(folder).set(f"{worker}-{number}", f"value {worker} {number}")


def test_P10_writers_of_several_processes_and_threads_lose_nothing(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_store, args=(tmp_path, each)) for each in (1, 2)]
    threads = [threading.Thread(target=_store, args=(tmp_path, each)) for each in (3, 4)]
    for process in processes:
        process.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        process.join()
    kept = vault(tmp_path)
    for worker in (1, 2, 3, 4):
        for number in range(5):
            assert kept.get(f"{worker}-{number}") == f"value {worker} {number}"


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.text(st.characters(codec="utf-8")))
def test_any_name_and_value(name: str, value: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        kept = vault(Path(folder))
        kept.set(name, value)
        assert kept.get(name) == value
