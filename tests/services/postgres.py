"""A private PostgreSQL server for the tests: started on its first use, gone at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

FAST = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "min_wal_size=32MB",
    "listen_addresses=127.0.0.1",
)
START = 60  # seconds


def programs() -> Path | None:
    """The folder with initdb and pg_ctl."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return debian[-1].parent if debian else None


class Cluster:
    """One server in a folder of its own; every test gets a schema of its own in it."""

    def __init__(self, folder: Path, bin: Path) -> None:
        self._data, self._bin, self._folder = folder / "data", bin, folder
        self._port = _free_port()

    def start(self) -> None:
        if os.getuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")
        options = " ".join(
            f"-c {one}" for one in (*FAST, f"unix_socket_directories={self._folder}")
        )
        log = self._folder / "log"
        start = ("-D", self._data, "-w", "-t", str(START), "-l", log)
        self._run("pg_ctl", *start, "-o", f"-p {self._port} {options}", "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")

    def schema(self) -> str:
        """The address of a new, empty schema."""
        name = f"t{uuid.uuid4().hex[:12]}"
        address = f"//postgres@127.0.0.1:{self._port}/postgres"
        with psycopg.connect(f"postgresql:{address}", autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        return f"postgresql+psycopg:{address}?options=-csearch_path%3D{name}"

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [str(self._bin / program), *map(str, arguments)]
        if os.getuid() == 0:
            user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
            command = ["setpriv", *user, "--", *command]
        done = subprocess.run(
            command,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server inherits it: a pipe would never close
            stderr=subprocess.DEVNULL,
            timeout=START * 2,
            check=False,
        )
        if done.returncode != 0:
            log = self._folder / "log"
            said = log.read_text() if log.exists() else ""
            raise RuntimeError(f"{program} failed with {done.returncode}: {said}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[Cluster]:
    """The server; a laptop without PostgreSQL skips its tests, CI fails."""
    bin = programs()
    if bin is None:
        reason = "PostgreSQL is not here; tests/services/bring.sh says how to get it"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wakeful-pg-")))
        cluster = Cluster(folder, bin)
        cluster.start()
        stack.callback(cluster.stop)
        yield cluster


@pytest.fixture
def postgres_url(postgres_cluster: Cluster) -> str:
    """The address of an empty PostgreSQL schema."""
    return postgres_cluster.schema()
