"""``cypool report``: reports on kept runs, and what changed between two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from cypool.cli import expecting
from cypool.cli.terminal import render, render_diff
from cypool.conformance import records
from cypool.conformance.reports.diff import NotComparable, differences
from cypool.conformance.reports.merge import Run, merge

BROKE = 1
PATH = click.Path(dir_okay=False, allow_dash=True, path_type=Path)


@click.command
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--markdown", "markdown_path", type=PATH, metavar="PATH", help="Write Markdown there, fit for the summary of a CI job.")
@click.option("--junit", "junit_path", type=PATH, metavar="PATH", help="Write JUnit XML there, a suite an operator-version.")
@click.option("--html", "html_path", type=PATH, metavar="PATH", help="Write one page there that needs nothing else, not even a network.")
@click.option("--expect", "lists", multiple=True, metavar="FILE", help="Say what is not as this list of expectations says; as for check.")
@click.option("--diff", is_flag=True, help="Report what changed from the first of two FILEs to the second.")
def command(
    files: Sequence[Path],
    markdown_path: Path | None,
    junit_path: Path | None,
    html_path: Path | None,
    lists: Sequence[str],
    diff: bool,
) -> None:
    """Report on runs that `cypool check --jsonl FILE` kept; several stand side by side, as one run.

    Without an option that names a PATH, the report goes to the terminal. A PATH of - is standard output. With --expect, each report says
    what is not as listed.

    Exit code: 0, or 2 for wrong usage; with --diff 1 where anything broke.
    """
    runs = [_read(path) for path in files]
    if diff:
        if len(files) != 2 or junit_path or html_path or lists:
            raise click.UsageError("--diff takes two FILEs, the old run and the new one, and no option but --markdown")
        raise SystemExit(_diff(runs[0], runs[1], markdown_path))
    header, results = merge(runs)
    expected = expecting.lists_of(lists, header, update=False)
    held = expecting.held(expected, header, results)
    if markdown_path:
        from cypool.conformance.reports.markdown import markdown

        _write(markdown_path, markdown(header, results, held))
    if junit_path:
        from cypool.conformance.reports.junit import junit

        _write(junit_path, junit(header, results, {name: listed.expectations for name, listed in expected.items()}))
    if html_path:
        from cypool.conformance.reports.page import page

        _write(html_path, page(header, results, held))
    if not (markdown_path or junit_path or html_path):
        console = Console()
        console.print(render(header, results, console))
        console.print(expecting.render(expected, header, held))


def _diff(old: Run, new: Run, markdown_path: Path | None) -> int:
    try:
        found = differences(old, new)
    except NotComparable as error:
        raise click.UsageError(str(error)) from None
    if markdown_path:
        from cypool.conformance.reports.markdown import diff_markdown

        _write(markdown_path, diff_markdown(new[0], found))
    else:
        Console().print(render_diff(new[0], found))
    return BROKE if any(difference.changes.broke for difference in found) else 0


def _read(path: Path) -> Run:
    try:
        with path.open(encoding="utf-8") as lines:
            return records.read(lines)
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from None
    except records.RecordError as error:
        raise click.UsageError(f"{path}: {error}") from None


def _write(path: Path, text: str) -> None:
    if path == Path("-"):
        click.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from None
