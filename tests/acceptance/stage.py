"""One run of the acceptance: an agent folder, a sink, senders, a person, and the reckoning."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import threading
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from time import monotonic
from typing import Any

from tests.acceptance.daemon import Daemon, free_port
from tests.acceptance.load import SECRET, Approver, ConsoleSender, Sender
from tests.acceptance.sink import Sink

AGENT = Path(__file__).parent / "agent"
DRAINED_WITHIN = 180.0  # seconds
NUMBER = re.compile(r"\bdone (\d+)")
EFFECTS = {
    "load": ("charge {n} a", "charge {n} b", "charge {n} c"),
    "ask": ("charge {n} a", "refund {n}"),
    "delegate": ("charge {n} a", "charge {n} b"),
    "plain": (),
}


class Stage:
    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "agent"
        self.ledger = root / "ledger"
        root.mkdir(exist_ok=True)
        shutil.copytree(AGENT, self.folder)
        self._stack = ExitStack()
        self._tick = threading.Event()

    def __enter__(self) -> Stage:
        self.sink = self._stack.enter_context(Sink())
        self.daemon = Daemon(self.folder, free_port(), env=self.env())
        self._stack.callback(self.daemon.kill)
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def env(self) -> dict[str, str]:
        return {
            "WAKEFUL_TEST_SINK": self.sink.url,
            "WAKEFUL_TEST_LEDGER": str(self.ledger),
            "WAKEFUL_TEST_HOOK_SECRET": SECRET,
        }

    def start_load(self, *, seed: int, console: bool = True) -> None:
        self.sender = Sender(
            self.daemon, "t", threads=6, seed=seed, ended=lambda: len(self.sink.texts())
        )
        self.console = ConsoleSender(
            self.daemon, "c", threads=3, seed=seed + 1, ended=self._console_ended
        )
        self.approver = Approver(self.daemon)
        self.senders = [self.sender, self.console] if console else [self.sender]
        parts: list[Sender | ConsoleSender | Approver] = [*self.senders, self.approver]
        for part in parts:
            part.start()
            self._stack.callback(part.stop)

    def stop_load(self) -> None:
        for sender in self.senders:
            sender.stop()
        assert [sender.failure for sender in self.senders] == [""] * len(self.senders)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the store says, read beside the daemon."""
        store = self.folder / ".wakeful" / "state.db"
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=30)) as database:
            return database.execute(query).fetchall()

    def drain(self) -> None:
        """Wait until every event has ended and every reply was delivered."""
        open_rows = (
            "SELECT (SELECT count(*) FROM inbox WHERE state = 'queued')"
            " + (SELECT count(*) FROM outbox WHERE state IN ('queued', 'sending'))"
        )
        end = monotonic() + DRAINED_WITHIN
        while self.rows(open_rows)[0][0]:
            assert self.daemon.alive(), self.daemon.log[-3000:]
            assert monotonic() < end, f"not drained; the log ends:\n{self.daemon.log[-3000:]}"
            self._tick.wait(0.1)

    def wait_until_sink_has(self, count: int, within: float = 60) -> None:
        end = monotonic() + within
        while len(self.sink.messages) < count:
            assert monotonic() < end, self.daemon.log[-3000:]
            self._tick.wait(0.05)

    def reckon(self) -> dict[str, int]:
        """Hold what was sent against what arrived; every promise is one assertion."""
        self._replies()
        self._order()
        self._console_replies()
        effects = self._effects()
        assert not self.approver.strange
        return {
            "events": sum(len(sender.kinds) for sender in self.senders),
            "effects": effects,
            "unknown": len(self.rows("SELECT 1 FROM effect WHERE state = 'unknown'")),
            "replies": len(self.sink.messages),
        }

    def _replies(self) -> None:
        """No event lost, no reply missing, no reply twice."""
        assert self.sink.twice() == {}
        sent = Counter(n for numbers in self.sender.acked.values() for n in numbers)
        got = Counter(int(found[1]) for text in self.sink.texts() if (found := NUMBER.search(text)))
        assert got == sent, {"missing": list(sent - got), "too many": list(got - sent)}
        assert self.rows("SELECT seq, error FROM inbox WHERE state = 'dead'") == []

    def _order(self) -> None:
        for thread, numbers in self.sender.acked.items():
            texts = [
                message["text"]
                for message in self.sink.messages
                if message["kind"] == "answer" and message["thread"].endswith(f"/{thread}")
            ]
            found = [int(match[1]) for text in texts if (match := NUMBER.search(text))]
            assert found == numbers, f"thread {thread} was answered out of order"

    def _console_replies(self) -> None:
        for number, event in self.console.console.items():
            said = self.daemon.get(f"/api/events/{event}")
            assert said["state"] == "done", said
            assert said["reply"] == f"done {number}"

    def _effects(self) -> int:
        """Nothing happened twice, and what is missing was reported as unknown."""
        lines = self.ledger.read_text().splitlines() if self.ledger.exists() else []
        counted = Counter(lines)
        assert [line for line, times in counted.items() if times > 1] == []
        kinds = {n: kind for sender in self.senders for n, kind in sender.kinds.items()}
        wanted = {line.format(n=n) for n, kind in kinds.items() for line in EFFECTS[kind]}
        missing = wanted - set(lines)
        unknown = len(self.rows("SELECT 1 FROM effect WHERE state = 'unknown'"))
        assert len(missing) <= unknown, f"missing and not reported: {sorted(missing)}"
        assert set(lines) <= wanted
        return len(lines)

    def _console_ended(self) -> int:
        store = self.folder / ".wakeful" / "state.db"
        if not store.exists():
            return 0
        ended = "SELECT count(*) FROM inbox WHERE source = 'console' AND state != 'queued'"
        return int(self.rows(ended)[0][0])


def write_report(root: Path, name: str, found: dict[str, int]) -> None:
    """A line for the log of CI: what the matrix saw."""
    print(f"{name}: {json.dumps(found)}")
    (root / f"{name}.json").write_text(json.dumps(found))
