"""What a wheel carries is what the tree has, and it lives beside others that use the same words."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGS = ("channels", "connections", "schedules", "skills", "tools")
NEIGHBOURS = ("python-daemon", "channels")  # both would overwrite a plainly installed tree of ours


def tracked(*folders: str) -> set[str]:
    """Files that git knows below these folders."""
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return {line for line in listed.stdout.splitlines() if (ROOT / line).is_file()}


def expected() -> set[str]:
    """Where each tracked file belongs in the wheel."""
    own = {path.removeprefix("daemon/") for path in tracked("daemon/wakeful")}
    return own | {f"wakeful/builtin/{path}" for path in tracked(*PLUGS)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean export of the tree, built once: sdist and wheel."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for path in tracked("."):
        to = tree / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes((ROOT / path).read_bytes())
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(tree)]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return out


def test_the_wheel_holds_the_tree_and_nothing_else(built: Path) -> None:
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == expected()


def test_the_wheel_says_that_it_is_typed(built: Path) -> None:
    assert "wakeful/py.typed" in zipfile.ZipFile(next(built.glob("*.whl"))).namelist()


def test_the_wheel_carries_the_licence(built: Path) -> None:
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)


def test_the_sdist_can_build_the_same_again(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {path for path in tracked("daemon", *PLUGS)} <= names


def test_in_a_clone_the_plugs_are_those_of_the_root() -> None:
    code = (
        "import wakeful.builtin as b, pathlib; print(pathlib.Path(list(b.__path__)[0]).resolve())"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert Path(told.stdout.strip()) == ROOT


@pytest.mark.fresh
@pytest.mark.timeout(900)  # seconds; it installs everything once more
def test_installed_beside_python_daemon_and_django_channels(built: Path, tmp_path: Path) -> None:
    python = fresh_environment(tmp_path)
    install(python, "-r", str(ROOT / "requirements.lock"))
    install(python, "--no-deps", str(next(built.glob("*.whl"))))
    install(python, *NEIGHBOURS)
    code = (
        "import daemon, channels, wakeful, wakeful.builtin\n"
        "assert daemon.DaemonContext and channels.__version__\n"
        "from importlib.resources import files\n"
        "inside = files('wakeful.builtin')\n"
        "names = ('channels', 'schedules', 'skills', 'tools')\n"
        "assert all((inside / name).is_dir() for name in names)\n"
    )
    subprocess.run([python, "-c", code], check=True, cwd=tmp_path)
    home = tmp_path / "my-agent"
    wakeful = Path(python).with_name("wakeful")
    for words in (["--help"], ["init", str(home)], ["check", str(home)]):
        subprocess.run([wakeful, *words], check=True, cwd=tmp_path, capture_output=True)


def fresh_environment(folder: Path) -> str:
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    return str(folder / "venv" / "bin" / "python")


def install(python: str, *what: str) -> None:
    subprocess.run(
        [python, "-m", "pip", "install", "-q", *what], check=True, stdin=subprocess.DEVNULL
    )
