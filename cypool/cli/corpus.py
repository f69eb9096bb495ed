"""``cypool cases export`` and ``cypool cases verify``: the cases as files, and what a harness of any language made of them.

Apart from ``cypool cases list``, which only shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from cypool.cli.selection import select
from cypool.conformance.corpus import CorpusError
from cypool.conformance.export import HASHES, VERSION, export
from cypool.conformance.whole import refuse_occupied


@click.command("export")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-k", "globs", multiple=True, metavar="GLOB", help="Only cases whose whole id matches; may be repeated.")
def export_(directory: Path, globs: Sequence[str]) -> None:
    """Write the cases to DIR, in ONNX's own test layout, with a manifest.

    DIR must not exist, or be empty; it is complete or not there. The same version of the corpus is the same bytes, wherever it is written.
    """
    try:
        refuse_occupied(directory)
        cases = select(globs)
        written = export(cases, directory, None if globs else HASHES[VERSION])
    except FileExistsError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{directory}: {error.strerror}") from None
    except CorpusError as error:
        raise click.ClickException(str(error)) from None
    what = f"{'some cases of ' * bool(globs)}corpus {VERSION}"
    size = f"{len(cases):,} cases in {written.files:,} files, {written.bytes / 1e6:.1f} MB"
    click.echo(f"{directory}: {what}, {size}, sha256 {written.hash}")
