from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeful.plugs.modules import PREFIX, forget, import_fault, load_module


def fault_of(path: Path) -> tuple[str, int | None, str]:
    with pytest.raises((Exception, SystemExit)) as caught:
        load_module("tools", path.stem, path)
    fault = import_fault(caught.value, path, f"tools/{path.name}")
    return fault.file, fault.line, fault.message


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "my-tool.py"
    path.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass A:\n    x: int = 1\n"
    )
    module = load_module("tools", "my-tool", path)
    assert module.A().x == 1
    assert sys.modules[module.__name__] is module
    assert not (tmp_path / "__pycache__").exists()


def test_an_edit_of_the_same_second_and_size_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("X = 1\n")
    stat = path.stat()
    old = load_module("tools", "a", path)
    path.write_text("X = 2\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert load_module("tools", "a", path).X == 2
    assert old.X == 1


def test_a_folder_with_relative_imports_now_and_later(tmp_path: Path) -> None:
    folder = tmp_path / "pay"
    (folder / "deep").mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "from .prices import PRICE\nfrom . import deep\n"
        "def later():\n    from .deep.lazy import NAME\n    return NAME\n"
    )
    (folder / "prices.py").write_text("PRICE = 7\n")
    (folder / "deep" / "__init__.py").write_text("from ..prices import PRICE\n")
    (folder / "deep" / "lazy.py").write_text("NAME = 'lazy'\n")
    module = load_module("tools", "pay", folder)
    assert (module.PRICE, module.deep.PRICE, module.later()) == (7, 7, "lazy")
    assert not list(tmp_path.rglob("__pycache__"))


def test_two_versions_of_a_folder_do_not_mix(tmp_path: Path) -> None:
    folder = tmp_path / "pay"
    folder.mkdir()
    (folder / "__init__.py").write_text("def price():\n    from .prices import P\n    return P\n")
    (folder / "prices.py").write_text("P = 1\n")
    old = load_module("tools", "pay", folder)
    assert old.price() == 1
    (folder / "prices.py").write_text("P = 2\n")
    new = load_module("tools", "pay", folder)
    assert (old.price(), new.price()) == (1, 2)
    forget(old.__name__)
    assert new.price() == 2
    assert not [name for name in sys.modules if name.startswith(old.__name__ + ".")]


def test_a_plug_does_not_see_the_file_beside_it_without_a_dot(tmp_path: Path) -> None:
    (tmp_path / "helper_of_nobody.py").write_text("X = 1\n")
    path = tmp_path / "a.py"
    path.write_text("import helper_of_nobody\n")
    file, line, message = fault_of(path)
    assert (file, line) == ("tools/a.py", 1)
    assert message == (
        'the module "helper_of_nobody" is missing; install it where wakeful is installed'
    )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ny = (\n", 2, "not Python"),
        ("def f():\nreturn 1\n", 2, "not Python"),
        ("x = 1\n\n1 / 0\n", 3, "ZeroDivisionError: division by zero"),
        ("def f():\n    raise OSError(2, 'gone')\nf()\n", 2, "gone"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
        ("raise KeyError\n", 1, "KeyError"),
        ("x = '\x00'\n", None, ""),
    ],
)
def test_what_does_not_load_names_its_line(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    path = tmp_path / "a.py"
    path.write_text(text)
    before = {name for name in sys.modules if name.startswith(PREFIX)}
    file, found, message = fault_of(path)
    assert file == "tools/a.py"
    assert line is None or found == line
    assert words in message
    assert {name for name in sys.modules if name.startswith(PREFIX)} == before


def test_a_fault_inside_a_folder_names_the_file_that_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "pay"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import inner\n")
    (folder / "inner.py").write_text("\n\nraise ValueError('no')\n")
    assert fault_of(folder)[:2] == ("tools/pay/inner.py", 3)
    (folder / "inner.py").write_text("\n\ndef\n")
    assert fault_of(folder)[:2] == ("tools/pay/inner.py", 3)


@given(st.text(max_size=40))
def test_any_text_loads_or_is_explained(text: str) -> None:
    """Compiled only up to its first line that does something: generated code must not run."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.py"
        path.write_text(f"if 0:\n  {text!r}\nx = [\n{text}", "utf-8", newline="")
        try:
            load_module("tools", "a", path)
        except (Exception, SystemExit) as error:
            assert import_fault(error, path, "tools/a.py").file == "tools/a.py"
