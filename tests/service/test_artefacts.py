from __future__ import annotations

from pathlib import Path

import pytest

from wakeful.errors import Refused, Unknown
from wakeful.service import artefacts
from wakeful.service.artefacts import Artefacts


async def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    kept = Artefacts(tmp_path)
    one = await kept.write(b"data", name="a.txt", media_type="text/plain")
    again = await kept.write(b"data", name="b.txt", media_type="text/plain")
    assert await kept.read(one.artefact) == b"data"
    assert again.artefact == one.artefact and again.name == "b.txt" and again.size == 4
    assert modes_below(tmp_path) == [0o600]


def modes_below(folder: Path) -> list[int]:
    return [path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("id", ["../../../etc/passwd", "", "0" * 64, "A" * 64])
async def test_an_id_that_is_none_leads_nowhere(tmp_path: Path, id: str) -> None:
    with pytest.raises(Unknown):
        await Artefacts(tmp_path).read(id)


async def test_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artefacts, "LIMIT", 3)
    with pytest.raises(Refused, match="larger than 3 bytes"):
        await Artefacts(tmp_path).write(b"data", name="a", media_type="text/plain")
