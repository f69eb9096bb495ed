"""``cypool report``: reports on kept runs, and what changed between two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from cypool.cli import codes, expecting, output, reports
from cypool.cli.terminal import render, render_diff
from cypool.conformance.judging import records
from cypool.conformance.reports.diff import NotComparable, differences
from cypool.conformance.reports.merge import Run, merge


@click.command(epilog=codes.told("done", {codes.DEVIATES: "with --diff: something broke"}))
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(dir_okay=False, path_type=Path))
@reports.options
@click.option(
    "--bundle",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Link each finding of the page to its files there.",
)
@click.option("--expect", "lists", multiple=True, metavar="FILE", help="Say what is not as this list of expectations says; as for check.")
@click.option("--diff", is_flag=True, help="Report what changed from the first of two FILEs to the second.")
def command(
    files: Sequence[Path],
    markdown_path: Path | None,
    junit_path: Path | None,
    html_path: Path | None,
    bundle: Path | None,
    lists: Sequence[str],
    diff: bool,
) -> None:
    """Report on runs that `cypool check --jsonl FILE` kept; several stand side by side, as one run.

    Without an option that names a PATH, the report goes to the terminal. A PATH of - is standard
    output. With --expect, each report says what is not as listed.
    """
    runs = [_read(path) for path in files]
    if diff:
        if len(files) != 2 or junit_path or html_path or bundle or lists:
            raise click.UsageError("--diff takes two FILEs, the old run and the new one, and no option but --markdown")
        raise SystemExit(_diff(runs[0], runs[1], markdown_path))
    header, results = merge(runs)
    expected = expecting.lists_of(lists, header, update=False)
    held = expecting.held(expected, header, results)
    with reports.opened({"markdown": markdown_path, "junit": junit_path, "html": html_path}) as write:
        write(header, results, expected, held, bundle)
    if not (markdown_path or junit_path or html_path):
        console = output.console()
        console.print(render(header, results, console))
        console.print(expecting.render(expected, header, held))


def _diff(old: Run, new: Run, markdown_path: Path | None) -> int:
    try:
        found = differences(old, new)
    except NotComparable as error:
        raise click.UsageError(str(error)) from None
    if markdown_path:
        from cypool.conformance.reports.markdown import diff_markdown

        with output.writing(markdown_path, "--markdown") as file:
            file.write(diff_markdown(new[0], found))
    else:
        output.console().print(render_diff(new[0], found))
    return codes.DEVIATES if any(difference.changes.broke for difference in found) else 0


def _read(path: Path) -> Run:
    try:
        with path.open(encoding="utf-8") as lines:
            return records.read(lines)
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from None
    except records.RecordError as error:
        raise click.UsageError(f"{path}: {error}") from None
