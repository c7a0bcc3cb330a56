"""A full disk, a read-only one, and a page that rotted: a clear error each, and nothing lost."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.stage import Stage

STORE_FAULT = 7  # exit code
FULL = 507  # RFC 4918, Insufficient Storage
SMALL = "24m"
TEXT = "a line of some length that fills the store. " * 200


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, a few megabytes large."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        if os.environ.get("CI"):
            pytest.fail(f"CI must be able to mount a small disk: {done.stderr}")
        pytest.skip("a small disk needs the right to mount (root)")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def _fill(place: Path) -> Path:
    """Use up what is left, to the last block."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    return filler


def test_a_full_disk_refuses_and_loses_nothing(small_disk: Path) -> None:
    with Stage(small_disk / "root") as stage:
        stage.daemon.start()
        with stage.daemon.client() as client:
            kept = [
                client.post("/api/messages", json={"thread": "console/a", "text": f"plain {n}"})
                for n in range(5)
            ]
            stage.drain()
            filler = _fill(small_disk)
            refused = [
                client.post("/api/messages", json={"thread": "console/b", "text": TEXT})
                for _ in range(40)
            ]
            codes = {answer.status_code for answer in refused}
            assert FULL in codes, codes
            assert codes <= {202, FULL}
            said = next(answer.text for answer in refused if answer.status_code == FULL)
            assert "free" in said
            accepted = [int(a.json()["event"]) for a in refused if a.status_code == 202]
            filler.unlink()
            last = client.post("/api/messages", json={"thread": "console/c", "text": "plain 99"})
            assert last.status_code == 202
            stage.drain()
            for answer in [*kept, last]:
                event = client.get(f"/api/events/{answer.json()['event']}").json()
                assert event["state"] == "done"
            for event in accepted:
                assert client.get(f"/api/events/{event}").json()["state"] in ("done", "failed")
        assert stage.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_full_disk_at_the_start_is_a_sentence(small_disk: Path) -> None:
    with Stage(small_disk / "root") as stage:
        _fill(small_disk)
        log = small_disk.parent / "log"
        stage.daemon.log_file = log
        stage.daemon.start(ready=False)
        assert stage.daemon.process is not None
        assert stage.daemon.process.wait(60) == STORE_FAULT
        assert "Traceback" not in log.read_text()
        assert "free" in log.read_text()


def test_a_read_only_disk_is_a_sentence(small_disk: Path) -> None:
    with Stage(small_disk / "root") as stage:
        stage.daemon.log_file = small_disk.parent / "log"
        stage.daemon.start()
        assert stage.daemon.terminate() == 0
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        stage.daemon.start(ready=False)
        assert stage.daemon.process is not None
        assert stage.daemon.process.wait(60) == STORE_FAULT
        said = stage.daemon.log
        assert "read-only" in said
        assert "Traceback" not in said
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)


def test_D11_a_rotten_page_is_found_at_the_start_and_the_file_is_left_alone(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.daemon.start()
        with stage.daemon.client() as client:
            for number in range(40):
                client.post(
                    "/api/messages", json={"thread": "console/a", "text": f"plain {number}"}
                )
        stage.drain()
        assert stage.daemon.terminate() == 0
        store = stage.folder / ".wakeful" / "state.db"
        with store.open("r+b") as file:
            for page in range(2, 12):
                file.seek(page * 4096)
                file.write(b"\xff" * 4096)
        rotten = store.read_bytes()
        shutil.copy(store, tmp_path / "kept")
        stage.daemon.start(ready=False)
        assert stage.daemon.process is not None
        assert stage.daemon.process.wait(60) == STORE_FAULT
        assert "Traceback" not in stage.daemon.log
        assert "operations" in stage.daemon.log
        assert store.read_bytes() == rotten
