"""``cypool explain``: which node of a model runs where."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click
from rich.table import Table

from cypool.cli import codes, output
from cypool.errors import SpecError


class Failure(click.ClickException):
    """Say in one line that a model cannot be explained, and why."""

    exit_code = codes.WRONG_USAGE


class Missing(click.ClickException):
    """There is no ONNX Runtime that takes the plug-in."""

    exit_code = codes.UNAVAILABLE


@click.command(epilog=codes.told("the model is explained", {codes.UNAVAILABLE: "no ONNX Runtime of 1.24 or newer is installed"}))
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--all", "every", is_flag=True, help="All nodes, not just those that cypool runs or could run.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, all nodes.")
def command(model: Path, every: bool, as_json: bool) -> None:
    """Tell which node of MODEL runs where: in ONNX Runtime alone, and with cypool in
    it, and why.
    """
    try:
        from cypool.ort import explain
    except ImportError as error:
        raise Missing(str(error)) from None
    from cypool import spec

    try:
        placements = explain.explain(model)
    except SpecError as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{model}: {error.strerror or error}") from None
    if as_json:
        click.echo(json.dumps([placement._asdict() for placement in placements], indent=2))
        return
    shown = placements if every else [each for each in placements if each.together == explain.CYPOOL or each.op in spec.operators()]
    table = Table(box=None, pad_edge=False)
    for title in ("node", "operator", "ONNX Runtime alone", "with cypool", "why"):
        table.add_column(title)
    for placement in shown:
        table.add_row(*placement)
    if shown:
        output.console().print(table)
    counts = Counter(placement.together for placement in placements)
    lacking = sum(placement.alone == explain.NOBODY for placement in placements)
    click.echo(
        f"{len(placements)} nodes: cypool runs {counts[explain.CYPOOL]}, ONNX Runtime {counts[explain.ONNX_RUNTIME]}; "
        f"{counts[explain.GONE]} are optimised away"
    )
    if lacking:
        click.echo(f"ONNX Runtime alone does not load the model: it has no kernel for {lacking} of them")
