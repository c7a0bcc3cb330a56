"""The command line. A command is imported when it is asked for, and plain help imports nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> None:
    """The entry point of the `wakeful` command."""
    words = sys.argv[1:] if args is None else list(args)
    if words in ([], ["-h"], ["--help"]):
        from wakeful.cli.commands import help_text

        print(help_text())
        return
    from wakeful.cli.root import wakeful

    wakeful(words, prog_name="wakeful")
