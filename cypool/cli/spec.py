"""``cypool spec``: what the standard says of an operator version, and how its silences are read.

On a terminal as tables; piped, a line a fact with tabs between its fields.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

import click
from rich import box
from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cypool import spec
from cypool.cli import output
from cypool.cli.names import known_version
from cypool.cli.suggestions import Group
from cypool.spec.facts import differences, facts, opsets
from cypool.spec.model import Ruling


@click.group(cls=Group)
def command() -> None:
    """Show what the standard says of an operator version."""


@command.command("list")
def list_() -> None:
    """List the operator versions.

    The fields: version, domain, the opsets it is in force at, the element types it takes.
    """
    rows = [(v.name, v.domain, opsets(v), "; ".join(", ".join(c.allowed) for c in v.types)) for v in spec.versions()]
    _output(rows, lambda: _table(("version", "domain", "opsets", "element types"), rows))


@command.command
@click.argument("version")
def show(version: str) -> None:
    """Show all that VERSION says, and the rulings.

    VERSION is a name such as GlobalLpPool-2; that of an operator means its newest. A ruling says
    how a place is read where the standard is silent.
    """
    found = known_version(version)
    rows = [("version", "name", found.name), ("version", "domain", found.domain), ("version", "opsets", opsets(found))]
    rows += [(thing, field, text) for (thing, field), text in facts(found).items()]
    rows += [(f"ruling {ruling.id}", field, text) for ruling in found.rulings for field, text in _ruling(ruling)]
    _output(rows, lambda: _groups(rows))


@command.command
@click.argument("old")
@click.argument("new")
def diff(old: str, new: str) -> None:
    """Show what OLD and NEW say differently.

    Both are versions by name, such as GlobalLpPool-1 GlobalLpPool-2.
    """
    before, after = known_version(old), known_version(new)
    rows = differences(before, after)
    _output(rows, lambda: _table(("", "", before.name, after.name), rows))


def _ruling(ruling: Ruling) -> Iterable[tuple[str, str]]:
    yield "question", ruling.question
    yield "chosen", ruling.chosen
    yield "choice", ruling.choice
    yield "evidence", ruling.evidence
    for reading in ruling.readings:
        kind = "other reading" if reading.legitimate else "known fault"
        yield kind, f"{reading.name} ({', '.join(reading.followed_by)}): {reading.text}"


def _output(rows: Iterable[Sequence[str]], drawn: Callable[[], RenderableType]) -> None:
    """What is drawn, on a terminal; otherwise a line a row, tabs between the cells."""
    if sys.stdout.isatty():
        output.console().print(drawn())
    else:
        for row in rows:
            click.echo("\t".join(" ".join(cell.split()) for cell in row))


def _groups(rows: Iterable[Sequence[str]]) -> RenderableType:
    """Return each thing as a heading with its fields below."""
    parts: list[RenderableType] = []
    for thing, group in itertools.groupby(rows, key=itemgetter(0)):
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=17)
        for _, field, text in group:
            grid.add_row(f"  {field}", Text(text))
        parts += [Text(thing, "bold"), grid, ""]
    return Parts(*parts[:-1])


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    """Return a column a cell; a thing is named in its first row alone."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for thing, group in itertools.groupby(rows, key=itemgetter(0)):
        for name, (_, *cells) in zip(itertools.chain([thing], itertools.repeat("")), group, strict=False):
            table.add_row(Text(name, "bold"), *map(Text, cells))
    return table
