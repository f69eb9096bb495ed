"""The table of commands, and how one is run.

Commands are imported when they are called and not before: ``cypool --help`` loads none of them.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import click

import cypool
from cypool.cli import codes, output
from cypool.cli.suggestions import Group
from cypool.errors import SpecError

COMMANDS = {
    "info": "Show version, kernel builds, threads and CPU.",
    "run": "Run an ONNX model of pooling operators.",
    "explain": "Tell which node of a model runs where in ONNX Runtime.",
    "spec": "Show what the standard says of an operator version.",
    "cases": "Show the conformance cases, or write them as files.",
    "check": "Hold ONNX runtimes to the standard.",
    "replay": "Run once more what check --bundle wrote.",
    "smoke": "See whether the adapter of a runtime is right.",
    "report": "Report on runs that check kept.",
}
"""Each command is ``command`` in the module of its name beside this one."""


class Lazy(Group):
    """A group whose commands are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(COMMANDS)

    def find_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"cypool.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table itself, so that help imports nothing."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        """Take the arguments apart; help is written here."""
        with _ours():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        with _ours():
            return super().invoke(ctx)


@contextlib.contextmanager
def _ours() -> Iterator[None]:
    """Take an interrupt and a broken pipe out of click's hands, which would end with
    its own codes.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise output.Interrupted("interrupted") from None
    except BrokenPipeError as error:
        raise output.NotWritten("broken pipe") from error


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(cypool.__version__, prog_name="cypool", message="%(prog)s %(version)s")
def group() -> None:
    """Pool, and check who else does: the ONNX pooling operators, and a conformance suite for every
    runtime that has them.
    """


def run() -> None:
    """Run the command line and end the process; errors are one line."""
    output.tolerate_encodings()
    sys.exit(_code())


def _code() -> int:
    """Run the command line, write out what it said, and return the exit code."""
    try:
        code = _command()
        output.flush()
    except OSError as error:
        output.silence(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            output.say(f"{error.filename or output.STANDARD_OUTPUT}: {error.strerror or error}")
        return codes.NOT_WRITTEN
    except ModuleNotFoundError:  # a package that the command line needs
        raise
    except Exception:
        traceback.print_exc()
        output.say("this is a fault in cypool; please report it with the lines above")
        return codes.INTERNAL
    return code


# only newer versions of click have it
NO_ARGUMENTS: tuple[type[click.ClickException], ...] = tuple(
    getattr(click.exceptions, name) for name in ("NoArgsIsHelpError",) if hasattr(click.exceptions, name)
)


def _command() -> int:
    """Run the command line and return the exit code that the command asks for."""
    try:
        ended = group.main(prog_name="cypool", standalone_mode=False)
    except SystemExit as end:
        ended = end.code
    except NO_ARGUMENTS as error:
        click.echo(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        if isinstance(error.__cause__, BrokenPipeError):
            raise error.__cause__ from None
        output.say(error.format_message())
        return codes.WRONG_USAGE if error.exit_code == codes.DEVIATES else error.exit_code  # click's own default is 1
    except SpecError as error:
        output.say(str(error))
        return codes.WRONG_USAGE
    return ended if isinstance(ended, int) else codes.DONE
