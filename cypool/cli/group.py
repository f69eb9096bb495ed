"""The table of commands, and how one is run.

Apart from the commands, which are imported when they are called and not before: ``cypool --help`` loads none of them.
"""

from __future__ import annotations

import importlib
import sys

import click

import cypool
from cypool.errors import SpecError

COMMANDS = {
    "info": "Show version, kernel builds, threads and CPU.",
    "run": "Run an ONNX model of pooling operators.",
    "spec": "Show what the standard says of an operator version.",
    "cases": "Show the conformance cases, or write them as files.",
    "check": "Hold ONNX runtimes to the standard.",
    "replay": "Run once more what check --bundle wrote.",
    "smoke": "See whether the adapter of a runtime is right.",
    "report": "Report on runs that check kept.",
}
"""Each command is ``command`` in the module of its name beside this one."""


class Lazy(click.Group):
    """A group whose commands are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"cypool.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table itself, so that help imports nothing."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(cypool.__version__, prog_name="cypool", message="%(prog)s %(version)s")
def group() -> None:
    """Pool, and check who else does: the ONNX pooling operators, and a conformance suite for every runtime that has them."""


def run() -> None:
    """Run the command line and end the process; errors are one line."""
    try:
        sys.exit(group.main(prog_name="cypool", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(error.exit_code)
    except click.ClickException as error:
        click.echo(f"cypool: {error.format_message()}", err=True)
        sys.exit(error.exit_code)
    except SpecError as error:
        click.echo(f"cypool: {error}", err=True)
        sys.exit(2)
    except click.Abort:
        sys.exit(130)
