from __future__ import annotations

import logging
from pathlib import Path

from wakeful.service import logs


def test_a_line_has_its_sentence_its_action_and_no_secret(tmp_path: Path) -> None:
    stop = logs.start_logging(tmp_path, known=lambda: ["hunter2-hunter2"])
    try:
        log = logging.getLogger("wakeful.test")
        log.warning("The password is hunter2-hunter2.", extra={"action": "told", "event": 3})
        try:
            raise ValueError("hunter2-hunter2 in a traceback")
        except ValueError:
            log.exception("It failed.")
    finally:
        stop()
    text = (tmp_path / "logs" / "wakeful.log").read_text()
    assert "The password is [redacted]. [action=told event=3]" in text
    assert "ValueError: [redacted] in a traceback" in text
    assert "hunter2" not in text


def test_P17_the_log_is_bounded(tmp_path: Path, monkeypatch: object) -> None:
    old, logs.FILE_BYTES = logs.FILE_BYTES, 2_000
    stop = logs.start_logging(tmp_path)
    try:
        log = logging.getLogger("wakeful.test")
        for number in range(400):
            log.info("Line %d of very many that nobody reads.", number)
    finally:
        stop()
        logs.FILE_BYTES = old
    files = list((tmp_path / "logs").iterdir())
    assert len(files) == logs.FILES + 1
    assert sum(file.stat().st_size for file in files) < 2_000 * (logs.FILES + 1) + 1_000


def test_stopping_leaves_the_root_logger_as_it_was(tmp_path: Path) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    logs.start_logging(tmp_path)()
    assert (root.level, list(root.handlers)) == before
