"""``cypool cases export`` and ``cypool cases verify``: the cases as files, and what a harness of
any language made of them.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from pathlib import Path

import click

import cypool
from cypool.cli import codes, output
from cypool.cli.selection import select
from cypool.cli.terminal import render
from cypool.conformance.corpus import corpus, verify
from cypool.conformance.corpus.atomic_directory import refuse_occupied
from cypool.conformance.corpus.corpus import CorpusError
from cypool.conformance.corpus.export import HASHES, VERSION, export
from cypool.conformance.judging import records
from cypool.conformance.judging.compare import criterion
from cypool.conformance.judging.explanations import drop_contradicted
from cypool.conformance.judging.records import Header


@click.command("export")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-k", "globs", multiple=True, metavar="GLOB", help="Only cases whose whole id matches; may be repeated.")
def export_(directory: Path, globs: Sequence[str]) -> None:
    """Write the cases to DIR, in ONNX's own test layout, with a manifest.

    DIR must not exist, or be empty; it is complete or not there. The same version of the corpus is
    the same bytes, wherever it is written.
    """
    try:
        refuse_occupied(directory)
        cases = select(globs)
        written = export(cases, directory, None if globs else HASHES[VERSION])
    except FileExistsError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise output.not_written(directory, error) from None
    except CorpusError as error:
        raise output.NotWritten(str(error)) from None
    what = f"{'some cases of ' * bool(globs)}corpus {VERSION}"
    size = f"{len(cases):,} cases in {written.files:,} files, {written.bytes / 1e6:.1f} MB"
    click.echo(f"{directory}: {what}, {size}, sha256 {written.hash}")


@click.command("verify", epilog=codes.told("all conform", {codes.DEVIATES: "one deviates"}))
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("outputs", metavar="OUTPUTS", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-k", "globs", multiple=True, metavar="GLOB", help="Only cases whose whole id matches; may be repeated.")
@click.option(
    "--ulp", type=click.IntRange(min=0), metavar="N", help="Decide by distance, at most N representable values, not by ONNX's tolerance."
)
@click.option("--jsonl", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write every result there, as JSON lines.")
def verify_(directory: Path, outputs: Path, globs: Sequence[str], ulp: int | None, jsonl: Path | None) -> None:
    """Judge the OUTPUTS that a harness wrote for the cases exported to DIR.

    For the case at PATH in DIR, a harness writes PATH/output_0.pb below OUTPUTS, or
    PATH/outcome.json where its runtime gave no outputs. A case without either was not run, and does
    not conform.
    """
    try:
        cases = corpus.read(directory)
        verify.require_answers(outputs, cases)
        described = verify.describe(outputs)
    except CorpusError as error:
        raise click.UsageError(str(error)) from None
    for glob in globs:
        if not fnmatch.filter([case.id for case in cases], glob):
            raise click.UsageError(f"no case matches {glob!r}")
    chosen = [case for case in cases if not globs or any(fnmatch.fnmatchcase(case.id, glob) for glob in globs)]
    results = drop_contradicted(list(verify.verify(described.name, chosen, outputs, criterion(ulp))), chosen)
    header = Header(
        cypool.__version__,
        {described.name: described},
        len(chosen),
        "onnx" if ulp is None else f"{ulp} ULP",
        {"globs": list(globs)},
        records.rulings(chosen),
        records.computed(chosen),
    )
    if jsonl is not None:
        with output.writing(jsonl, "--jsonl") as file:
            file.writelines(records.lines(header, results))
    console = output.console()
    console.print(render(header, results, console))
    raise SystemExit(0 if all(result.conforms for result in results) else codes.DEVIATES)
