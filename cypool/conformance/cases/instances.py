"""Make the instances of a case: opsets at which its version is in force, and variants of its model.

A case is the same in all of them. Its id without ``@`` and ``+`` means the plain model at the
version's first opset, ``…/ramp@21`` the one at opset 21, ``…/ramp@21+symbolic`` a variant of that.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from cypool.conformance.cases.case import Case
from cypool.spec.model import Version

NEWEST_OPSET = 28
"""The last opset that a version is tried at which is still in force: that of ONNX 1.23, whatever
onnx is installed, as ids never change.
"""


def opsets(version: Version, every: bool = False) -> tuple[int, ...]:
    """Return the first and the last opset where the version is in force, or every one.

    >>> from cypool import spec
    >>> opsets(spec.version("MaxRoiPool-1")), opsets(spec.version("GlobalLpPool-1"), every=True)
    ((1, 21), (1,))
    """
    first = version.since_version
    found = range(first, (version.until_version or NEWEST_OPSET) + 1)
    return tuple(found) if every else tuple(dict.fromkeys((found[0], found[-1])))


def base(id: str) -> str:
    """Return the id of the case itself, without opset and variant.

    >>> base("GlobalLpPool-2/float/rank4/p3/ramp@21+symbolic")
    'GlobalLpPool-2/float/rank4/p3/ramp'
    """
    return id.partition("@")[0].partition("+")[0]


def spread(cases: Iterable[Case], every_opset: bool = False, variants: Sequence[str] = ()) -> Iterator[Case]:
    """Yield each case at those opsets, plain and in the variants named; all share one computed
    answer.
    """
    for case in cases:
        answer = case.answer and functools.cache(case.answer)
        for id, opset, variant in _along(case, every_opset, variants):
            yield case.at(id, opset, variant, answer)


def ids(cases: Iterable[Case], every_opset: bool = False, variants: Sequence[str] = ()) -> Iterator[str]:
    """Yield the ids of what ``spread`` yields, without making it."""
    for case in cases:
        for id, _, _ in _along(case, every_opset, variants):
            yield id


def _along(case: Case, every_opset: bool, variants: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield each id of a case, with its opset and its variant."""
    for opset in opsets(case.version, every_opset):
        at = "" if opset == case.version.since_version else f"@{opset}"
        for variant in ("", *variants):
            yield f"{case.id}{at}{variant and '+'}{variant}", opset, variant
