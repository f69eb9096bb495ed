"""The options that write reports to files, ``--markdown``, ``--junit`` and ``--html``, for every command that has results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias, TypeVar

import click

from cypool.cli import output
from cypool.cli.expecting import Listed
from cypool.conformance.expectations.strict import Held
from cypool.conformance.records import Header, Result

Command = TypeVar("Command", bound=Callable[..., None])
Write: TypeAlias = Callable[[Header, Sequence[Result], Mapping[str, Listed], Mapping[str, Held]], None]

HELP = {
    "markdown": "Write Markdown there, fit for the summary of a CI job.",
    "junit": "Write JUnit XML there, a suite an operator-version.",
    "html": "Write one page there that needs nothing else, not even a network.",
}


def options(command: Command) -> Command:
    """Add the options to a command: each gives an argument such as ``html_path``."""
    for form, text in reversed(HELP.items()):
        path = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
        command = click.option(f"--{form}", f"{form}_path", type=path, metavar="PATH", help=text)(command)
    return command


def _text(form: str, header: Header, results: Sequence[Result], expected: Mapping[str, Listed], held: Mapping[str, Held]) -> str:
    """Return a report; each form is imported when it is asked for."""
    if form == "markdown":
        from cypool.conformance.reports.markdown import markdown

        return markdown(header, results, held)
    if form == "junit":
        from cypool.conformance.reports.junit import junit

        return junit(header, results, {name: listed.expectations for name, listed in expected.items()})
    from cypool.conformance.reports.page import page

    return page(header, results, held)


@contextmanager
def opened(paths: Mapping[str, Path | None]) -> Iterator[Write]:
    """Open the files at once, so that a path at which nothing can be written shows before the work; give what fills them."""
    with ExitStack() as stack:
        files = {form: stack.enter_context(output.writing(path, f"--{form}")) for form, path in paths.items() if path is not None}

        def write(header: Header, results: Sequence[Result], expected: Mapping[str, Listed], held: Mapping[str, Held]) -> None:
            for form, file in files.items():
                file.write(_text(form, header, results, expected, held))

        yield write
