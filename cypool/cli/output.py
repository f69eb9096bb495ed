"""Write what commands write, and turn each failure to write into one message and exit code.

A file is complete or not there. Standard output takes replacement characters for what its
encoding lacks.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cypool.cli import codes
from cypool.conformance.corpus.atomic_directory import whole_file

if TYPE_CHECKING:
    from rich.console import Console

EXHAUSTED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE})
"""Errors that are no fault of the path: the disk is full or broken, or the reader of a pipe is
gone.
"""

STANDARD_OUTPUT = "standard output"
DASH = Path("-")
"""The path that stands for standard output."""


class NotWritten(click.ClickException):
    """Output that could not be written."""

    exit_code = codes.NOT_WRITTEN


class Interrupted(click.ClickException):
    """A command that the user ended."""

    exit_code = codes.INTERRUPTED


def not_written(what: str | Path, error: OSError) -> click.ClickException:
    """Return the error for what could not be written: wrong usage where the path is at fault."""
    message = f"{what}: {error.strerror or error}"
    return NotWritten(message) if error.errno in EXHAUSTED else click.UsageError(message)


@contextlib.contextmanager
def writing(path: Path, option: str = "") -> Iterator[IO[str]]:
    """Open a file of text for the block, which is complete at ``path`` afterwards, or not there.

    ``option`` names the option that ``path`` was given by. UsageError where nothing can be written
    at ``path``.
    """
    if path == DASH:
        yield sys.stdout
        return
    try:
        with whole_file(path) as file:
            yield file
    except OSError as error:
        raise not_written(f"{option} {path}".lstrip(), error) from None


def console(stderr: bool = False) -> Console:
    """Return a console for standard output, or standard error; it raises BrokenPipeError where its
    reader is gone.
    """
    from rich.console import Console

    class Honest(Console):
        """A console that leaves it to the command what a broken pipe means; rich itself would end
        with code 1.
        """

        def on_broken_pipe(self) -> None:
            """Raise it again."""
            raise

    return Honest(stderr=stderr)


def tolerate_encodings() -> None:
    """Have standard output and standard error replace what their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def flush() -> None:
    """Write out what standard output still holds; OSError where that fails."""
    if sys.stdout is not None:
        sys.stdout.flush()


def silence(stream: Any) -> None:
    """Send what a stream still holds to nowhere, so that the interpreter does not fail
    at its end.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def say(message: str) -> None:
    """Write a line about the command to standard error, if it takes one."""
    try:
        click.echo(f"cypool: {message}", err=True)
    except OSError:
        silence(sys.stderr)
