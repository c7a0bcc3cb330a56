"""The agent's workspace: files are replaced whole or not at all, and never over somebody's head.

A write, edit or delete is refused when the file has changed since *this* agent of *this* thread
last saw it. Two sub-agents on one file lose nothing silently: the slower one is told, reads, merges
and retries. What was seen is kept in memory; after a restart a file must be read once more.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from deepagents.backends import FilesystemBackend
from deepagents.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.utils import perform_string_replacement
from langgraph.config import get_config

from wakeful import files
from wakeful.agent.permissions import Deed, refusal
from wakeful.config import FileRule

SEEN_LIMIT = 10_000  # (agent, path) pairs
MAX_FILE = 10_000_000  # bytes of a file that the agent may write

Reader = tuple[str, str]  # thread, sub-agent
Found = TypeVar("Found", FileInfo, GrepMatch)
R = TypeVar("R", ReadResult, WriteResult, EditResult, DeleteResult)

UNREAD = "Error: '{path}' exists already and you have not read it. Read it first, then decide."
CHANGED = (
    "Error: '{path}' has changed since you last read it: somebody else wrote or removed it. Read "
    "it again, merge your change into what is there now, and retry."
)


class Seen:
    """Digests of files as each agent last saw them; the oldest are forgotten."""

    def __init__(self, limit: int = SEEN_LIMIT) -> None:
        self._limit = limit
        self._digests: OrderedDict[tuple[Reader, str], str | None] = OrderedDict()

    def get(self, reader: Reader, path: str) -> str | None:
        return self._digests.get((reader, path))

    def set(self, reader: Reader, path: str, digest: str | None) -> None:
        self._digests[reader, path] = digest
        self._digests.move_to_end((reader, path))
        while len(self._digests) > self._limit:
            self._digests.popitem(last=False)


class Workspace(FilesystemBackend):
    """A folder with compare-and-set writes; a subclass, since the middleware asks for the class."""

    def __init__(self, root: Path, rules: Callable[[], Sequence[FileRule]] = tuple) -> None:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        super().__init__(root, virtual_mode=True)
        self._rules = rules
        self._seen = Seen()
        self._lock = threading.RLock()  # files are small and local: one lock for all is enough

    # The middleware calls these; they must pass through the methods below, in a thread.
    aread, awrite = BackendProtocol.aread, BackendProtocol.awrite
    aedit, adelete = BackendProtocol.aedit, BackendProtocol.adelete

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        if refused := self._refused(file_path, "read"):
            return ReadResult(error=refused)
        with self._lock:
            result = super().read(file_path, offset, limit)
            if not result.error:
                self._seen.set(reader(), self._name(file_path), self._digest(file_path))
            return result

    def write(self, file_path: str, content: str) -> WriteResult:
        def work() -> WriteResult:
            if self._digest(file_path) == _digest(content.encode()):
                return WriteResult(path=file_path)  # a repeated write: nothing to do
            return self._replace(file_path, content) or WriteResult(path=file_path)

        same = _digest(content.encode())
        return self._guarded(file_path, work, lambda e: WriteResult(error=e), same=same)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        def work() -> EditResult:
            if refused := self._refused(file_path, "read"):
                return EditResult(error=refused)
            path = self._resolve_path(file_path)
            if not path.is_file():
                return EditResult(error=f"Error: File '{file_path}' not found")
            text = path.read_bytes().decode()
            changed = perform_string_replacement(text, old_string, new_string, replace_all)
            if isinstance(changed, str):
                return EditResult(error=changed)
            failed = self._replace(file_path, changed[0])
            if failed is not None:
                return EditResult(error=failed.error)
            return EditResult(path=file_path, occurrences=int(changed[1]))

        return self._guarded(file_path, work, lambda e: EditResult(error=e))

    def delete(self, file_path: str) -> DeleteResult:
        def work() -> DeleteResult:
            if self._resolve_path(file_path) == self.cwd:
                return DeleteResult(error="Error: the workspace itself cannot be deleted")
            for inside in self._files_below(file_path):
                if refused := self._refused(inside, "write"):
                    return DeleteResult(error=refused)
                if fault := self._conflict(inside, self._digest(inside) or ""):
                    return DeleteResult(error=fault)
            return super(Workspace, self).delete(file_path)

        return self._guarded(file_path, work, lambda e: DeleteResult(error=e))

    def ls(self, path: str) -> LsResult:
        result = super().ls(path)
        return replace(result, entries=self._readable(result.entries))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        result = super().glob(pattern, path)
        return replace(result, matches=self._readable(result.matches))

    def grep(self, *given: Any, **options: Any) -> GrepResult:
        result = super().grep(*given, **options)
        return replace(result, matches=self._readable(result.matches))

    async def agrep(self, *given: Any, **options: Any) -> GrepResult:
        result = await super().agrep(*given, **options)
        return replace(result, matches=self._readable(result.matches))

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [
            FileDownloadResponse(path=path, error="permission_denied")
            if self._refused(path, "read")
            else super(Workspace, self).download_files([path])[0]
            for path in paths
        ]

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [
            FileUploadResponse(path=path, error="permission_denied")
            if self._refused(path, "write")
            else super(Workspace, self).upload_files([(path, data)])[0]
            for path, data in files
        ]

    def _readable(self, found: list[Found] | None) -> list[Found] | None:
        """Without what this agent may not read: its name and its lines stay hidden."""
        rules = self._rules()
        if not rules or found is None:
            return found
        return [each for each in found if not self._refused(each["path"], "read")]

    def _refused(self, file_path: str, deed: Deed) -> str | None:
        """By where it really lies, however it was written; what lies nowhere is refused later."""
        rules = self._rules()
        if not rules:
            return None
        try:
            path = self._to_virtual_path(self._resolve_path(file_path))
        except (OSError, ValueError, RuntimeError):
            return None
        return refusal(rules, path, deed, shown=file_path)

    def _files_below(self, folder: str) -> list[str]:
        path = self._resolve_path(folder)
        files = (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else ()
        return [self._to_virtual_path(each) for each in files]

    def _guarded(
        self,
        file_path: str,
        work: Callable[[], R],
        refuse: Callable[[str], R],
        *,
        same: str | None = None,
    ) -> R:
        """Do it unless the file is not as this agent knows it. `same`: a digest that is fine."""
        if refused := self._refused(file_path, "write"):
            return refuse(refused)
        with self._lock:
            try:
                now = self._digest(file_path)
                if now is not None and now != same and (fault := self._conflict(file_path, now)):
                    return refuse(fault)
                if now is None and self._seen.get(reader(), self._name(file_path)) is not None:
                    self._seen.set(reader(), self._name(file_path), None)
                    return refuse(CHANGED.format(path=file_path))
                result = work()
            except (OSError, ValueError, RuntimeError) as error:
                return refuse(f"Error: '{file_path}' could not be changed: {error}")
            if not result.error:
                self._seen.set(reader(), self._name(file_path), self._digest(file_path))
            return result

    def _conflict(self, file_path: str, now: str) -> str | None:
        seen = self._seen.get(reader(), self._name(file_path))
        if seen == now:
            return None
        return (UNREAD if seen is None else CHANGED).format(path=file_path)

    def _name(self, file_path: str) -> str:
        """One name per file, however it was written."""
        return str(self._resolve_path(file_path))

    def _digest(self, file_path: str) -> str | None:
        try:
            return _digest(self._resolve_path(file_path).read_bytes())
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def _replace(self, file_path: str, content: str) -> WriteResult | None:
        """Write beside the file and rename over it: readers see the old text or the new one."""
        data = content.encode()
        if len(data) > MAX_FILE:
            return WriteResult(error=f"Error: '{file_path}' would be larger than {MAX_FILE} bytes")
        path = self._resolve_path(file_path)
        if path.is_dir():
            return WriteResult(error=f"Error: '{file_path}' is a folder; name a file in it")
        path.parent.mkdir(parents=True, exist_ok=True)
        files.put(path, data)
        return None


def reader() -> Reader:
    """Who reads or writes here: the thread, and within it the agent whose tool this is.

    A tool's namespace is its agent's own plus one hop for the call; the agent is what comes before.
    """
    try:
        where = get_config().get("configurable", {})
    except RuntimeError:
        return ("", "")
    agent = str(where.get("checkpoint_ns", "")).rpartition("|")[0]
    return (str(where.get("thread_id", "")), agent)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
