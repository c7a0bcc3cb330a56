"""Where a database file may lie: on a disk whose locks and shared memory work."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

from wakeful.errors import StoreBroken

# f_type of statfs(2) for file systems that are somebody else's, or pass through another kernel.
FOREIGN = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB2",
    0x65735546: "FUSE or virtiofs",
    0x01021997: "9P",
    0x00C36400: "Ceph",
    0x5346414F: "AFS",
    0x73757245: "Coda",
    0x7461636F: "OCFS2",
    0x01161970: "GFS2",
    0x0BD00BD0: "Lustre",
    0x786F4256: "VirtualBox shared folder",
}


def refuse_foreign(folder: Path, *, kind: Callable[[Path], int | None] | None = None) -> None:
    """Refuse a network or pass-through file system: SQLite's log is damaged there in minutes."""
    name = FOREIGN.get((kind or filesystem)(folder) or 0)
    if name is not None:
        raise StoreBroken(
            f"{folder} is on a network or shared file system ({name}), where SQLite loses data; "
            'put the store on a local disk: `[store] url = "sqlite:////local/path/state.db"`'
        )


def filesystem(folder: Path) -> int | None:
    """The magic number of a folder's file system, None where the system does not say."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    answer = ctypes.create_string_buffer(256)  # struct statfs is smaller everywhere
    if library.statfs(os.fsencode(folder), answer) != 0:
        return None
    return ctypes.c_long.from_buffer(answer).value & 0xFFFFFFFF
