"""`wakeful init`: a folder that works at once and explains itself."""

from __future__ import annotations

from pathlib import Path

import click

from wakeful.cli.exits import FOLDER, Fail
from wakeful.cli.table import plural

TEMPLATE = Path(__file__).with_name("template")
DOTTED = {"gitignore"}  # written with a dot; without one here, so that git minds its own


@click.command()
@click.argument("directory", metavar="[DIR]", default=".")
def init(directory: str) -> None:
    """Write a new agent folder.

    It answers at once, with a scripted model that needs no key, and every file says what it is for.
    Nothing is ever overwritten.
    """
    home = Path(directory)
    files = planned(home)
    taken = [str(to) for to in files if to.exists()]
    if home.exists() and not home.is_dir():
        raise Fail(f"{home} is a file; name a folder.", FOLDER)
    if taken:
        raise Fail(f"{_listed(taken)} here already; nothing was written.", FOLDER)
    for to, text in files.items():
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)
    where = "" if home.resolve() == Path.cwd() else f" {directory}"
    click.echo(f"Wrote {plural(len(files), 'file')} to {home}.")
    click.echo(f"Start it: wakeful run{where}")
    click.echo(f"Then, in another terminal: wakeful chat{where}")


def planned(home: Path) -> dict[Path, str]:
    """What would be written, and where."""
    files = {}
    for source in sorted(TEMPLATE.rglob("*")):
        if source.is_file() and "__pycache__" not in source.parts:
            path = source.relative_to(TEMPLATE)
            name = f".{path}" if path.name in DOTTED else str(path)
            files[home / name] = source.read_text()
    return files


def _listed(names: list[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
