"""Several runs as one, so that runtimes checked apart stand side by side."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from cypool.conformance.asking.protocol import Description
from cypool.conformance.judging.records import Header, Result
from cypool.spec.model import Ruling

Run = tuple[Header, list[Result]]


def merge(runs: Sequence[Run]) -> Run:
    """One run that holds the results of all, in their order.

    A runtime keeps its name unless several runs have that name: then its version, and a number
    where that too is the same, goes with it. ValueError where there is no run.
    """
    if not runs:
        raise ValueError("no run to merge")
    if len(runs) == 1:
        return runs[0]
    headers = [header for header, _ in runs]
    runtimes: dict[str, Description] = {}
    merged: list[Result] = []
    names = Counter(name for header in headers for name in header.runtimes)
    for header, results in runs:
        labels = {}
        for name, description in header.runtimes.items():
            labels[name] = _free(name if names[name] == 1 else f"{name} {description.version}".rstrip(), runtimes)
            runtimes[labels[name]] = description
        merged += [dataclasses.replace(result, runtime=labels[result.runtime]) for result in results]
    return Header(
        cypool=_each(header.cypool for header in headers),
        runtimes=runtimes,
        cases=len({result.case for result in merged}),
        tolerance=_each(header.tolerance for header in headers),
        selection={},
        rulings=_rulings(headers),
        computed=tuple(sorted({name for header in headers for name in header.computed})),
    ), merged


def asked_as(header: Header, runtime: str) -> str:
    """Return the name that ``cypool check`` knows a runtime by: without the version and number that
    a merge gave it.
    """
    plain = re.sub(r" \(\d+\)$", "", runtime)
    return plain.removesuffix(f" {header.runtimes[runtime].version}")


def _free(label: str, taken: Iterable[str]) -> str:
    number = 2
    free = label
    while free in taken:
        free = f"{label} ({number})"
        number += 1
    return free


def _each(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _rulings(headers: Iterable[Header]) -> dict[str, tuple[Ruling, ...]]:
    found: dict[str, dict[str, Ruling]] = {}
    for header in headers:
        for op, rulings in header.rulings.items():
            found.setdefault(op, {}).update({ruling.id: ruling for ruling in rulings})
    return {op: tuple(of_op.values()) for op, of_op in found.items()}
