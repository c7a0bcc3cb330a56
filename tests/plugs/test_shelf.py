from __future__ import annotations

from pathlib import Path

from wakeful.events import Fault
from wakeful.plugs.shelf import KEPT, Loaded, Shelf


def load(path: Path) -> Loaded[str]:
    text = path.read_text()
    return (None, [Fault(file=path.name, message=text)]) if text.startswith("bad") else (text, [])


def test_a_file_is_loaded_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    loads: list[str] = []
    shelf = Shelf()

    def counted() -> Loaded[str]:
        loads.append(path.read_text())
        return load(path)

    assert shelf.read(path, counted).value == "one"
    assert shelf.read(path, counted).value == "one"
    path.write_text("second")
    assert shelf.read(path, counted).value == "second"
    assert shelf.read(path, counted, salt="zone").value == "second"
    assert loads == ["one", "second", "second"]


def test_a_bad_version_keeps_the_last_good_one_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a"
    shelf = Shelf()
    path.write_text("good")
    good = shelf.read(path, lambda: load(path))
    for text in ("bad 1", "bad 22"):
        path.write_text(text)
        kept = shelf.read(path, lambda: load(path))
        assert (kept.value, kept.digest) == ("good", good.digest)
        assert [fault.message for fault in kept.faults] == [text + KEPT]
    path.write_text("better")
    kept = shelf.read(path, lambda: load(path))
    assert (kept.value, kept.faults) == ("better", ())


def test_a_first_version_that_is_bad_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("bad")
    kept = Shelf().read(path, lambda: load(path))
    assert kept.value is None
    assert [fault.message for fault in kept.faults] == ["bad"]


def test_a_value_is_dropped_when_it_is_two_versions_old(tmp_path: Path) -> None:
    path = tmp_path / "a"
    dropped: list[str] = []
    shelf = Shelf(dropped.append)
    for text in ("1", "22", "333", "4444"):
        path.write_text(text)
        shelf.read(path, lambda: load(path))
    assert dropped == ["1", "22"]


def test_a_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("good")
    shelf = Shelf()
    shelf.read(path, lambda: load(path))
    shelf.retain([])
    path.write_text("bad")
    assert shelf.read(path, lambda: load(path)).value is None


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    def denied() -> Loaded[str]:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "a"
    path.write_text("x")
    kept = Shelf().read(path, denied)
    assert [fault.message for fault in kept.faults] == ["it cannot be read: Permission denied"]
