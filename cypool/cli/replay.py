"""``cypool replay``: one finding once more."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from cypool.cli import codes
from cypool.cli.check import NotAvailable
from cypool.conformance.asking.isolation import Isolated, Unavailable
from cypool.conformance.findings.bundle import BundleError, find_bundles, read


@click.command(epilog=codes.told("all conform now", {codes.DEVIATES: "one deviates", codes.UNAVAILABLE: "a runtime is not available"}))
@click.argument("directories", nargs=-1, required=True, metavar="BUNDLE...", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--runtime", metavar="RUNTIME", help="Run it on this one, not on the one that it was found with.")
@click.option("--timeout", default=10.0, show_default=True, type=click.FloatRange(min=0, min_open=True), help="Seconds for a case.")
def command(directories: Sequence[Path], runtime: str | None, timeout: float) -> None:
    """Run a BUNDLE, as `cypool check --bundle DIR` writes them, once more; of a directory of
    bundles, every one.
    """
    conforms = True
    for directory in directories:
        found = find_bundles(directory)
        if not found:
            raise click.UsageError(f"{directory} holds no bundle")
        for path in found:
            try:
                bundle = read(path)
                with closing(Isolated(runtime or bundle.runtime, timeout)) as isolated:
                    result = bundle.replay(isolated)
            except BundleError as error:
                raise click.UsageError(str(error)) from None
            except Unavailable as error:
                raise NotAvailable(str(error)) from None
            conforms &= result.conforms
            described = f"{isolated.description.name} {isolated.description.version}".rstrip()
            click.echo(f"{path}: {bundle.case.id} on {described}")
            click.echo(f"  was: {_said(bundle.verdict, bundle.message)}")
            click.echo(f"  now: {_said(result.verdict, result.message)}")
    raise SystemExit(0 if conforms else codes.DEVIATES)


def _said(verdict: str, message: str) -> str:
    return " ".join(f"{verdict}: {message}".removesuffix(": ").split())
