"""The real daemon as a process that tests start, ask, stop and kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
READY_WITHIN = 180.0  # seconds; the machine may be small and busy
ARMED_WITHIN = 10.0  # seconds


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Daemon:
    """`wakeful run` on one folder. The same folder may be started again and again."""

    def __init__(
        self,
        folder: Path,
        port: int,
        *,
        crash_at: str = "",
        env: Mapping[str, str] | None = None,
        wrap: tuple[str, ...] = (),
    ) -> None:
        self.folder, self.port, self.crash_at = folder, port, crash_at
        self.env = dict(env or {})
        self.wrap = wrap
        self.log_file = folder.parent / "daemon.log"
        self.arm_file = folder.parent / "crash-point"
        self.process: subprocess.Popen[bytes] | None = None
        self._pulse = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return (self.folder / ".wakeful" / "token").read_text().strip()

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def __enter__(self) -> Daemon:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.kill()

    def start(self, *, ready: bool = True) -> None:
        env = {
            **os.environ,
            "WAKEFUL_SERVER__BIND": f"127.0.0.1:{self.port}",
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
            "WAKEFUL_TEST_CRASH_AT": self.crash_at,
            "WAKEFUL_TEST_ARM": str(self.arm_file),
            **self.env,
        }
        command = [*self.wrap, sys.executable, "-m", "tests.acceptance.child", str(self.folder)]
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        if ready and not self.wait_ready():
            assert self.crash_at, f"it ended while it started; its log ends:\n{self.log[-3000:]}"

    def wait_ready(self) -> bool:
        """True when it answers; False when it died before (a crash point at start)."""
        assert self.process is not None
        end = monotonic() + READY_WITHIN
        with httpx.Client(timeout=5, trust_env=False) as client:
            while monotonic() < end:
                if self.process.poll() is not None:
                    return False
                try:
                    if client.get(f"{self.url}/ready").status_code == 200:
                        return True
                except httpx.TransportError:
                    self._pulse.wait(0.05)
                else:
                    self._pulse.wait(0.05)
        raise AssertionError(f"not ready after {READY_WITHIN} s; its log ends:\n{self.log[-3000:]}")

    def arm(self, point: str) -> None:
        """Let the running daemon die at a point, from now on."""
        assert self.process is not None
        self.arm_file.write_text(point)
        self.process.send_signal(signal.SIGUSR1)
        end = monotonic() + ARMED_WITHIN
        while self.arm_file.exists():
            assert monotonic() < end, self.log[-3000:]
            self._pulse.wait(0.01)

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def died_within(self, seconds: float) -> bool:
        assert self.process is not None
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def terminate(self, within: float = 60) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within)

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=20, trust_env=False)

    def get(self, path: str) -> Any:
        with self.client() as client:
            response = client.get(path)
            response.raise_for_status()
            return response.json()
