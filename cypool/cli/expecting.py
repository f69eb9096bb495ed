"""``--expect`` and ``--update-expectations``: which list goes with which runtime, and what is done
and said about it.

A verdict is the same with a list and without.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cypool.cli import output
from cypool.conformance import cases
from cypool.conformance.asking.runtimes.table import EXEC
from cypool.conformance.cases import instances
from cypool.conformance.cases.variants import VARIANTS
from cypool.conformance.expectations.lists import Expectations, ListError, read
from cypool.conformance.expectations.shipped import shipped
from cypool.conformance.expectations.strict import Held, hold
from cypool.conformance.judging.explanations import Against, by_readings
from cypool.conformance.judging.records import Header, Result
from cypool.conformance.reports import summary

SHIPPED = "shipped"
"""The word that stands for the lists that come with cypool."""

SHOWN = 5
"""How many cases of a surprise are shown."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A runtime's list, and the file that it is in; None where it came with cypool."""

    path: Path | None
    text: str
    expectations: Expectations


def lists_of(names: Sequence[str], header: Header, update: bool) -> dict[str, Listed]:
    """Return the list of each runtime that has one.

    ``names`` are of files, or ``shipped``; a file goes before what is shipped.

    UsageError for a file that is no list, or whose runtime is not in this run.
    """
    if update and (not names or SHIPPED in names):
        raise click.UsageError("--update-expectations needs --expect FILE; a list that comes with cypool stays as it is")
    found: dict[str, Listed] = {}
    if SHIPPED in names:
        for text in shipped().values():
            found |= _owned(Listed(None, text, read(text)), header)
    for name in names:
        if name != SHIPPED:
            listed = _from_file(Path(name), header, update)
            owned = _owned(listed, header)
            if not owned:
                there = ", ".join(header.runtimes)
                raise click.UsageError(f"{name} is for {listed.expectations.runtime}, none of the runtimes of this run: {there}")
            found |= owned
    return {name: found[name] for name in header.runtimes if name in found}


def _owned(listed: Listed, header: Header) -> dict[str, Listed]:
    """Return the list for each runtime that it names, as one asks for it or as it calls itself."""
    runtime = listed.expectations.runtime
    return {name: listed for name, description in header.runtimes.items() if runtime in (name, description.name)}


def _from_file(path: Path, header: Header, update: bool) -> Listed:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if not update or len(header.runtimes) != 1:
            raise click.UsageError(f"--expect {path}: no such file; --update-expectations makes one, for one runtime") from None
        ((name, description),) = header.runtimes.items()
        text = f'runtime = "{description.name if name.startswith(EXEC) else name}"\n'
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--expect {path}: {error}") from None
    try:
        return Listed(path, text, read(text))
    except ListError as error:
        raise click.UsageError(f"--expect {path}: {error}") from None


@functools.cache
def every_id() -> frozenset[str]:
    """Return the ids of all cases that there are, at every opset and in every variant."""
    return frozenset(instances.ids(cases.generate(), every_opset=True, variants=tuple(VARIANTS)))


def held(lists: Mapping[str, Listed], header: Header, results: Sequence[Result], against: Against = by_readings) -> dict[str, Held]:
    """What came of holding each runtime that has a list against it."""
    return {
        name: hold(listed.expectations, header.runtimes[name].version, summary.of_runtime(name, results), every_id, against)
        for name, listed in lists.items()
    }


def update(
    lists: Mapping[str, Listed], header: Header, results: Sequence[Result], against: Against
) -> tuple[dict[str, Listed], RenderableType]:
    """Return the lists, brought up to date in their files, and what changed in them."""
    from cypool.conformance.expectations.update import update

    updated = {}
    said: list[RenderableType] = []
    for name, listed in lists.items():
        assert listed.path is not None
        version, own = header.runtimes[name].version, summary.of_runtime(name, results)
        try:
            text, changes = update(listed.text, version, own, every_id, against)
        except ListError as error:
            raise click.UsageError(f"--update-expectations {listed.path}: {error}") from None
        with output.writing(listed.path, "--update-expectations") as file:
            file.write(text)
        changed = f"{len(changes)} {'entry' if len(changes) == 1 else 'entries'} changed" if changes else "as it was"
        said += ["", Text(f"{listed.path}: {changed}", "bold"), *(Text(str(change)) for change in changes)]
        updated[name] = Listed(listed.path, text, read(text))
    return updated, Group(*said)


def render(lists: Mapping[str, Listed], header: Header, held: Mapping[str, Held]) -> RenderableType:
    """For each runtime that has a list, how much is as listed, and all that is not."""
    parts: list[RenderableType] = []
    for name, of_runtime in held.items():
        listed = lists[name]
        source = "the list that is shipped" if listed.path is None else str(listed.path)
        if of_runtime.entries < len(listed.expectations.entries):
            source += f", of whose {len(listed.expectations.entries)} entries {of_runtime.entries} are about this version"
        line = f"{header.title(name)} and {source}: {of_runtime}"
        parts += ["", Text(line, "bold" if of_runtime.surprises else "bold green"), _surprises(of_runtime)]
    return Group(*parts)


def _surprises(found: Held) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right")
    grid.add_column(overflow="fold")
    for surprise in found.surprises:
        text = Text(surprise.kind, "red").append(f": {summary.shortened(surprise.text)}", "default")
        results = surprise.examples
        details = [f"{result.case}: {result.verdict}" for result in results[:SHOWN]]
        details += [f"and {len(results) - SHOWN:,} more"] if len(results) > SHOWN else []
        details += [summary.shortened(result.message) for result in results[:1] if result.message]
        text.append("".join(f"\n{detail}" for detail in details), "dim")
        grid.add_row(f"{len(results):,}" if results else "", text)
    return grid


def well(name: str, results: Iterable[Result], held: Mapping[str, Held]) -> bool:
    """Tell whether a runtime's results are as listed; of one that has no list, whether they all
    conform.
    """
    if name in held:
        return not held[name].surprises
    return all(result.conforms for result in results if result.runtime == name)
