"""``cypool smoke``: is the adapter right, whatever the runtime is."""

from __future__ import annotations

from contextlib import closing

import click
from rich.padding import Padding
from rich.text import Text

from cypool.cli import codes, output
from cypool.cli.check import NotAvailable
from cypool.conformance.asking.isolation import Isolated, Unavailable
from cypool.conformance.asking.smoke import OK, UNTOLD, WRONG, Smoke
from cypool.conformance.reports import summary

STYLES = {OK: "green", WRONG: "red", UNTOLD: "dim"}


@click.command(epilog=codes.told("nothing is wrong", {codes.DEVIATES: "something is", codes.UNAVAILABLE: "the runtime is not available"}))
@click.argument("runtime")
@click.option("--timeout", default=10.0, show_default=True, type=click.FloatRange(min=0, min_open=True), help="Seconds for a question.")
def command(runtime: str, timeout: float) -> None:
    """Ask RUNTIME for what every runtime knows: a wrong answer is its adapter's, or its harness's.

    Types, shapes, bits, names and orders of tensors; phases of refusals; that nothing is kept and
    that it ends. What the runtime says it lacks is "untold". RUNTIME is named as for
    `cypool check`.
    """
    console = output.console()
    verdicts = []
    try:
        with closing(Isolated(runtime, timeout)) as isolated:
            for check in Smoke(isolated).checks():
                verdicts.append(check.verdict)
                console.print(Text(f"{check.verdict:7}", STYLES[check.verdict]).append(f" {check.fact}", "default"))
                if check.message:
                    console.print(Padding(Text(summary.shortened(check.message), "dim"), (0, 0, 0, 8)))
    except Unavailable as error:
        raise NotAvailable(str(error)) from None
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in STYLES)
    console.print(Text(f"{runtime}: {counts}", "bold"))
    raise SystemExit(codes.DEVIATES if WRONG in verdicts else codes.DONE)
