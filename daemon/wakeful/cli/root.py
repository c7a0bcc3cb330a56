"""The group of all commands: what there is, without importing any of it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from wakeful.cli import exits
from wakeful.cli.commands import COMMANDS, help_text


class Commands(click.Group):
    """A group whose commands are looked up by name and imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(f"wakeful.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(error.message + _nearest(args[0]), ctx) from None

    def get_help(self, ctx: click.Context) -> str:
        return help_text()

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            exits.stopped()
        except Exception as error:
            raise exits.as_fail(error) from error


def _nearest(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, n=1)
    return f" Did you mean {near[0]!r}?" if near else " `wakeful --help` lists them."


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import version

    click.echo(f"wakeful {version('wakeful')}")
    ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-C", "directory", metavar="DIR", help="Work in this agent folder.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
    help="Show the version and exit.",
)  # fmt: skip
@click.pass_context
def wakeful(ctx: click.Context, directory: str | None) -> None:
    """Wakeful keeps a deep agent awake."""
    ctx.obj = directory
