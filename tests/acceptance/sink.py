"""A receiver that counts: it keeps every message that reaches it, in order, and can be asked."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is what these tests are about; anything else is a fault."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Sink:
    """Runs in this process, so that it outlives every daemon that the test kills."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Sink:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def texts(self, kind: str = "answer") -> list[str]:
        with self._lock:
            return [message["text"] for message in self.messages if message["kind"] == kind]

    def twice(self) -> dict[str, int]:
        """Every message that arrived more than once, by the sender's id of it."""
        with self._lock:
            counted = Counter(message["id"] for message in self.messages)
        return {id: times for id, times in counted.items() if times > 1}

    def has(self, id: str) -> bool:
        with self._lock:
            return any(message["id"] == id for message in self.messages)

    def take(self, message: dict[str, Any]) -> None:
        with self._lock:
            self.messages.append(message)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if len(body) == length:  # else the sender was killed in the middle
                    sink.take(json.loads(body))
                    self._answer(200)

            def do_GET(self) -> None:
                self._answer(200 if sink.has(self.path.lstrip("/")) else 404)

            def _answer(self, status: int) -> None:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet: the tests print what they find."""

        return Handler
