"""The cases that a command line asks for: globs on ids, operators, types."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence

import click

from cypool import spec
from cypool.cli.names import known_operator
from cypool.cli.suggestions import did_you_mean
from cypool.conformance import cases
from cypool.conformance.cases.case import Case
from cypool.conformance.cases.instances import base
from cypool.spec.elements import BY_NUMPY


def select(
    globs: Sequence[str] = (),
    ops: Sequence[str] = (),
    types: Sequence[str] = (),
    spread: Callable[[Iterable[Case]], Iterable[Case]] = lambda cases: cases,
    core: bool = False,
) -> list[Case]:
    """Return the cases that match one of the globs, one of the operators and one of the types,
    where any are given.

    ``spread`` makes several of each, of opsets and variants; a glob matches such a one by its own
    id, or all of them by the id before that. Types go by ONNX's name or by numpy's. UsageError for
    an operator, a glob, a type or a combination that selects nothing: a run of no case must not
    pass. ``core``: only those that are run by default.
    """
    for op in ops:
        known_operator(op)
    types = [BY_NUMPY.get(type, type) for type in types]
    known = {type for op in ops or spec.operators() for version in spec.operator(op).versions for type in cases.types_of(version)}
    for type in types:
        if type not in known:
            raise click.UsageError(f"no case of type {type!r}; there are: {', '.join(sorted(known))}{did_you_mean(type, known)}")

    def wanted(head: str) -> bool:
        return (not types or head.split("/")[1] in types) and (not globs or any(_may_match(head, glob) for glob in globs))

    found = list(spread(case for case in cases.generate(ops or None, wanted) if case.core or not core))
    for glob in globs:
        if not any(_matches(case, glob) for case in found):
            raise click.UsageError(f"no case matches {glob!r}, which has to match whole ids: '*nan*' selects those with nan in them")
    found = [case for case in found if not globs or any(_matches(case, glob) for glob in globs)]
    if not found:
        raise click.UsageError("these options together select no case")
    return found


def _may_match(head: str, glob: str) -> bool:
    """Tell whether an id that begins with this head may match the glob, by what stands before the
    glob's first special character.

    >>> globs = ("MaxRoiPool-1/float/odd/*", "*nan*", "MaxRoiPool-2[12]*")
    >>> [_may_match("MaxRoiPool-1/float/", glob) for glob in globs]
    [True, True, False]
    """
    literal = re.split(r"[*?[]", glob, maxsplit=1)[0]
    return literal.startswith(head) or head.startswith(literal)


def _matches(case: Case, glob: str) -> bool:
    return fnmatch.fnmatchcase(case.id, glob) or fnmatch.fnmatchcase(base(case.id), glob)
