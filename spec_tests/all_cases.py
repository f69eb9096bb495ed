"""All generated cases, made once for the test modules that look at them together."""

import functools
import os
from collections import defaultdict

from cypool import spec
from cypool.conformance import cases

VERSIONS = [version.name for version in spec.versions()]
CELLS = [(version.name, type) for version in spec.versions() for type in version.types[0].allowed]

INFERRED_OTHERWISE = {"window-in-end-padding", "valid-ceil", "same-ceil", "kernel-beyond-input", "auto-pad-and-pads"}
"""The rulings whose windows ONNX's shape inference may count otherwise, as the gaps that the data
records say.
"""


@functools.cache
def every():
    return tuple(cases.generate())


@functools.cache
def valid():
    return tuple(case for case in every() if case.fault is None)


@functools.cache
def core():
    """The valid cases that are run by default; all of them with CYPOOL_ALL_CASES=1."""
    return tuple(case for case in valid() if case.core or os.environ.get("CYPOOL_ALL_CASES"))


@functools.cache
def invalid():
    return tuple(case for case in every() if case.fault is not None)


def by_cell(some):
    found = defaultdict(list)
    for case in some:
        found[case.version.name, case.type].append(case)
    return found
