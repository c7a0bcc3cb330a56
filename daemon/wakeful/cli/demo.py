"""`wakeful demo`."""

from __future__ import annotations

import sys

import click


@click.command()
@click.option(
    "--once", is_flag=True, help="End when everything was shown; exit 0 if all of it worked."
)
def demo(once: bool) -> None:
    """Show a chat, a schedule and a webhook in a folder of their own, without any key.

    It stays up afterwards and prints the address of the page, until Ctrl-C.
    """
    from wakeful.rehearsal.demo import run_demo
    from wakeful.service import open_service

    sys.exit(run_demo(open_service, once=once))
