"""``cypool cases``: what the conformance suite consists of."""

from __future__ import annotations

import sys

import click

from cypool.cli.corpus import export_, verify_
from cypool.cli.selection import select
from cypool.cli.suggestions import Group


def on_terminal() -> bool:
    """Tell whether a person reads the output."""
    return sys.stdout.isatty()


@click.group(cls=Group)
def command() -> None:
    """Show the conformance cases."""


@command.command("list")
@click.argument("glob", required=False)
def list_(glob: str | None) -> None:
    """List the cases whose id matches GLOB (all without one): ids, what is wrong in an invalid
    case, the rulings that a case turns on.

    Piped, it is a line a case, of five fields with tabs between: id, operator-version, type, fault
    or "valid", and rulings.
    """
    found = select((glob,) if glob else ())
    if on_terminal():
        width = max(len(case.id) for case in found)
        for case in found:
            notes = [f"invalid: {case.fault}"] * (case.fault is not None) + [f"ruling: {', '.join(case.rulings)}"] * bool(case.rulings)
            click.echo(f"{case.id:{width}}  {'; '.join(notes)}".rstrip())
        count = "1 case" if len(found) == 1 else f"{len(found):,} cases"
        click.echo(f"{count}, {sum(case.fault is not None for case in found):,} invalid", err=True)
    else:
        for case in found:
            click.echo("\t".join((case.id, case.version.name, case.type, case.fault or "valid", ",".join(case.rulings))))


command.add_command(export_)
command.add_command(verify_)
