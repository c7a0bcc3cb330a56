"""`wakeful chat`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from wakeful.cli.exits import FOLDER, UNAVAILABLE, Fail
from wakeful.cli.folder import choose, folder_argument, settings_of


@click.command()
@folder_argument
@click.option("--thread", default="", help="Go on with this conversation, such as console/reports.")
def chat(home: Path, directory: str | None, thread: str) -> None:
    """Talk with the running agent in the terminal.

    /new starts afresh, /stop stops what runs, /quit ends. When a call waits for you, type approve,
    reject and a reason, or edit and the new arguments as JSON.
    """
    from wakeful.cli.conversation import Conversation
    from wakeful.cli.daemon import find_daemon
    from wakeful.cli.lines import Lines
    from wakeful.cli.screen import Screen
    from wakeful.cli.talk import Talk

    if directory and not Path(directory).exists():
        raise Fail(
            f"there is no folder {directory}; a message goes through a pipe, as in"
            ' `echo "Hello" | wakeful chat`.',
            FOLDER,
        )
    folder = choose(directory, home)
    settings = settings_of(folder)
    if find_daemon(folder, settings) is None:
        raise Fail(f"nobody is awake here; start it with `wakeful run {folder}`.", UNAVAILABLE)

    async def main() -> int:
        screen = Screen(sys.stdout, tty=sys.stdin.isatty() and sys.stdout.isatty())
        async with Conversation(folder, settings, thread) as conversation:
            return await Talk(conversation, screen, Lines(sys.stdin.fileno())).run()

    sys.exit(asyncio.run(main()))
