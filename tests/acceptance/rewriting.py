"""Rewrites one file again and again, until it is killed; each life is a fork of a warm process.

python -m tests.acceptance.rewriting KIND FOLDER KILLS
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from wakeful.agent.workspace import Workspace
from wakeful.secrets.file import EncryptedFile
from wakeful.service.announce import announced
from wakeful.web.auth import create_token, read_token

AWAKE = 0.006  # seconds at most from the first write to the kill
LETTERS = "abcdefgh"
LONG = 300_000  # characters: longer than one write of the kernel


class Token:
    """Made once; here it is made again and again."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "token"

    def write(self, n: int) -> None:
        self.file.unlink(missing_ok=True)
        create_token(self.file)

    def check(self) -> None:
        if self.file.exists():
            read_token(self.file)


class Shared:
    """A file of the workspace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "workspace"
        self.space = Workspace(self.folder)

    def write(self, n: int) -> None:
        self.space.read("/notes.txt")
        assert self.space.write("/notes.txt", LETTERS[n % len(LETTERS)] * LONG).error is None

    def check(self) -> None:
        file = self.folder / "notes.txt"
        if file.exists():
            text = file.read_text()
            assert (len(text), len(set(text))) == (LONG, 1), f"torn: {len(text)}"


class Kept:
    """The encrypted file of secrets, and its key."""

    def __init__(self, folder: Path) -> None:
        self.file = EncryptedFile(folder / "secrets.json", folder / "key")

    def write(self, n: int) -> None:
        self.file.set(f"name{n % 20}", str(n) * 200)

    def check(self) -> None:
        for n in range(20):
            self.file.get(f"name{n}")


class Address:
    """Where the daemon listens."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, n: int) -> None:
        announced(self.folder, f"http://127.0.0.1:{10_000 + n % 50_000}").__enter__()

    def check(self) -> None:
        file = self.folder / "address"
        if file.exists():
            assert len(file.read_text()) == len("http://127.0.0.1:10000\n")


class Kind(Protocol):
    def write(self, n: int) -> None: ...

    def check(self) -> None: ...


KINDS: dict[str, Callable[[Path], Kind]] = {
    "token": Token,
    "workspace": Shared,
    "secrets": Kept,
    "address": Address,
}


def life(write: Callable[[int], None]) -> tuple[int, int]:
    """A process that writes for ever, and a pipe that says when it has begun."""
    ready, begun = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ready)
            write(0)
            os.write(begun, b"!")
            n = 1
            while True:
                write(n)
                n += 1
        finally:
            os._exit(1)
    os.close(begun)
    return child, ready


def main(kind: str, folder: Path, kills: int) -> None:
    dice, target = random.Random(19), KINDS[kind](folder)
    for _ in range(kills):
        child, ready = life(target.write)
        if os.read(ready, 1) != b"!":
            sys.exit(f"the writer of {kind} ended by itself")
        select.select([ready], [], [], dice.uniform(0, AWAKE))  # readable when it ends
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(ready)
        assert os.WIFSIGNALED(status), f"the writer of {kind} ended by itself"
        target.check()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
