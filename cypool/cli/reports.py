"""The options that write reports to files, ``--markdown``, ``--junit`` and ``--html``, for every
command that has results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias, TypeVar
from urllib.parse import quote

import click

from cypool.cli import output
from cypool.cli.expecting import Listed
from cypool.conformance.expectations.strict import Held
from cypool.conformance.judging.records import Header, Result

Command = TypeVar("Command", bound=Callable[..., None])
Write: TypeAlias = Callable[[Header, Sequence[Result], Mapping[str, Listed], Mapping[str, Held], Path | None], None]

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


def _addresses(page: Path, bundles: Path) -> dict[tuple[str, str], str]:
    """Return the addresses of bundles as seen from a page; one on standard output is taken to stay
    in this folder.
    """
    from cypool.conformance.findings.bundle import BundleError, directories

    try:
        found = directories(bundles)
    except BundleError as error:
        raise click.UsageError(f"--bundle {bundles}: {error}") from None
    folder = page.absolute().parent
    return {key: quote(Path(os.path.relpath(path, folder)).as_posix()) for key, path in found.items()}


@contextmanager
def opened(paths: Mapping[str, Path | None]) -> Iterator[Write]:
    """Open the files at once, so that a path at which nothing can be written shows before the work;
    give what fills them.

    That takes the run, the lists it was held to and what came of it, and the directory of its
    bundles if there is one. Each form is imported when it is asked for.
    """
    with ExitStack() as stack:
        files = {form: stack.enter_context(output.writing(path, f"--{form}")) for form, path in paths.items() if path is not None}

        def write(
            header: Header,
            results: Sequence[Result],
            expected: Mapping[str, Listed],
            held: Mapping[str, Held],
            bundles: Path | None,
        ) -> None:
            if "markdown" in files:
                from cypool.conformance.reports.markdown import markdown

                files["markdown"].write(markdown(header, results, held))
            if "junit" in files:
                from cypool.conformance.reports.junit import junit

                lists = {name: listed.expectations for name, listed in expected.items()}
                files["junit"].write(junit(header, results, lists))
            if "html" in files:
                from cypool.conformance.reports.page import page

                addresses = _addresses(paths["html"] or output.DASH, bundles) if bundles else {}
                files["html"].write(page(header, results, held, addresses))

        yield write
