"""The installed skills as files that the agent can read and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

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

from wakeful.errors import Refused
from wakeful.plugs.carried import carried, is_aside
from wakeful.plugs.suspects import findings
from wakeful.skill import Skill
from wakeful.skills.trust import Pins, quarantined

READ_ONLY = (
    "Error: installed skills cannot be changed from here. Write a draft below /skills/ instead."
)


class Library(BackendProtocol):
    """`/<skill>/<file>` of the skills that the folder holds at this moment, as they are on disk.

    The folder is looked at again at each use: a version that nobody has accepted cannot be read,
    even when it was put there in the middle of a run.
    """

    def __init__(
        self, skills: Callable[[], Sequence[Skill]], pins: Callable[[], Pins] = dict
    ) -> None:
        self._known, self._pins = skills, pins

    def _skills(self) -> list[Skill]:
        return [skill for skill in self._known() if self._may_be_read(skill)]

    def _may_be_read(self, skill: Skill) -> bool:
        if skill.ours:
            return True
        try:
            held = carried(skill.folder)
        except (OSError, Refused):
            return False
        now = replace(skill, digest=held.digest, findings=findings(held))
        return not quarantined(now, self._pins())

    def _find(self, path: str) -> tuple[Skill | None, str]:
        name, _, rest = path.strip("/").partition("/")
        if is_aside(path):
            return None, "/" + rest
        found = next((skill for skill in self._known() if skill.name == name), None)
        return (found if found and self._may_be_read(found) else None), "/" + rest

    def _files(self, skill: Skill) -> FilesystemBackend:
        return FilesystemBackend(skill.folder, virtual_mode=True)

    def ls(self, path: str) -> LsResult:
        skill, rest = self._find(path)
        if skill is None:
            return LsResult(
                entries=[FileInfo(path=f"/{s.name}/", is_dir=True) for s in self._skills()]
            )
        result = self._files(skill).ls(rest)
        entries = [_below(entry, skill.name) for entry in _parts(result.entries)]
        return LsResult(error=result.error, entries=entries)

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        skill, rest = self._find(file_path)
        if skill is None:
            return ReadResult(error=f"File '{file_path}' not found")
        try:
            return self._files(skill).read(rest, offset, limit)
        except ValueError as error:
            return ReadResult(error=f"Error: '{file_path}' cannot be read: {error}")

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        found: list[FileInfo] = []
        wanted, _ = self._find(path or "/")
        for skill in [wanted] if wanted else self._skills():
            result = self._files(skill).glob(pattern.lstrip("/"))
            found += [_below(match, skill.name) for match in _parts(result.matches)]
        return GlobResult(matches=found)

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
        **options: object,
    ) -> GrepResult:
        found: list[GrepMatch] = []
        wanted, _ = self._find(path or "/")
        for skill in [wanted] if wanted else self._skills():
            for match in self._files(skill).grep(pattern, None, glob).matches or []:
                if is_aside(match["path"]):
                    continue
                match["path"] = f"/{skill.name}{match['path']}"
                found.append(match)
        return GrepResult(matches=found[:max_count])

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> FileDownloadResponse:
        skill, rest = self._find(path)
        if skill is None:
            return FileDownloadResponse(path=path, content=None, error="file_not_found")
        found = self._files(skill).download_files([rest])[0]
        return FileDownloadResponse(path=path, content=found.content, error=found.error)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [FileUploadResponse(path=path, error="permission_denied") for path, _ in files]

    def write(self, file_path: str, content: str) -> WriteResult:
        return WriteResult(error=READ_ONLY)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        return EditResult(error=READ_ONLY)

    def delete(self, file_path: str) -> DeleteResult:
        return DeleteResult(error=READ_ONLY)


def _parts(entries: Sequence[FileInfo] | None) -> list[FileInfo]:
    """Without what is no part of a skill, such as a repository's own files."""
    return [entry for entry in entries or () if not is_aside(entry["path"])]


def _below(entry: FileInfo, name: str) -> FileInfo:
    entry["path"] = f"/{name}{entry['path']}"
    return entry
