"""What a command asks of a daemon that is up, and what it makes of the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import Cli
from wakeful.cli import exits

TOKEN = "t" * 43
Answers = dict[str, tuple[int, Any]]


@pytest.fixture
def answers(home: Path) -> Iterator[Answers]:
    """A daemon of this folder that knows these answers by path; there is no store to read."""
    known: Answers = {"/api/waits": (200, {"waits": []})}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, value = known.get(urlsplit(self.path).path, (404, {"error": "Not here."}))
            if self.headers["authorization"] != f"Bearer {TOKEN}":
                status, value = 401, {"error": "Who are you?"}
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        private = home / ".wakeful"
        private.mkdir(mode=0o700)
        (private / "address").write_text(f"http://127.0.0.1:{server.server_port}\n")
        (private / "token").touch(mode=0o600)
        (private / "token").write_text(TOKEN)
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield known
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("command", ["threads", "runs", "effects", "schedules", "waits"])
def test_a_daemon_that_is_up_is_asked_and_not_its_store(
    answers: Answers, cli: Cli, command: str
) -> None:
    answers[f"/api/{command}"] = (200, {command: [{"from": "the daemon"}]})
    assert cli(command, "--json").json == [{"from": "the daemon"}]


def test_a_daemon_of_another_folder_is_not_asked(answers: Answers, home: Path, cli: Cli) -> None:
    answers["/api/threads"] = (200, {"threads": [{"from": "the daemon"}]})
    (home / ".wakeful" / "token").write_text("u" * 43)
    assert cli("threads", "--json").json == []


@pytest.mark.parametrize(
    ("status", "code"), [(507, exits.STORE), (503, exits.FAILED), (404, exits.UNKNOWN)]
)
def test_what_a_daemon_refuses_is_its_sentence_and_a_code(
    answers: Answers, cli: Cli, status: int, code: int
) -> None:
    answers["/api/threads"] = (status, {"error": "There is no room left."})
    shown = cli("threads")
    assert (shown.code, shown.err) == (code, "Error: There is no room left.\n")


def test_an_answer_without_a_sentence_names_its_status(answers: Answers, cli: Cli) -> None:
    answers["/api/status"] = (500, ["strange"])
    assert "the daemon answered 500" in cli("status").err
