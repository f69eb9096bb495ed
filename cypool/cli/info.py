"""``cypool info``: what is installed and what it will use."""

from __future__ import annotations

import json

import click
from rich.table import Table

from cypool.cli import output
from cypool.info import info


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(as_json: bool) -> None:
    """Show version, kernel builds (present, usable here, chosen), OpenMP, threads and processor."""
    facts = info()
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    chosen = f"{facts['chosen']}, forced by CYPOOL_ISA" if facts["forced"] else facts["chosen"]
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in (
        ("cypool", facts["version"]),
        ("Python, numpy", f"{facts['python']}, {facts['numpy']}"),
        ("builds present", ", ".join(facts["builds"])),
        ("usable here", ", ".join(facts["usable"])),
        ("chosen", chosen),
        ("compiler", facts["compiler"]),
        ("OpenMP", facts["openmp"] or "none: kernels use one thread"),
        ("threads", str(facts["threads"])),
        ("processor", facts["cpu"]),
    ):
        table.add_row(name, str(value))
    output.console().print(table)
