"""The numeric contract: how near its exact result, rounded once, each operator's output is.

One place for the tests that hold kernels to it and for the pages that tell of it. docs/kernels.md
says how it is kept.
"""

from __future__ import annotations

from typing import NamedTuple


class Accuracy(NamedTuple):
    """A distance from the exact result, rounded once to the output's type."""

    ulp: int  # representable values
    of_terms: float = 0.0  # and this times the sum of the absolute values of what is added up


_EXACT = Accuracy(0)
_FLOATS = ("float16", "bfloat16", "float")


def _by_type(others: Accuracy, double: Accuracy) -> dict[str, Accuracy]:
    return {**dict.fromkeys(_FLOATS, others), "double": double}


ACCURACY: dict[str, dict[str, Accuracy]] = {
    "AveragePool": _by_type(Accuracy(1), Accuracy(4)),
    "GlobalAveragePool": _by_type(Accuracy(1), Accuracy(4)),
    "GlobalLpPool": _by_type(Accuracy(1), Accuracy(4)),
    "LpPool": _by_type(Accuracy(1), Accuracy(4)),
    "RoiAlign": _by_type(Accuracy(1, 2.0**-40), Accuracy(1, 8 * 2.0**-53)),
}
"""By operator, then by ONNX's name of the element type."""


def accuracy(op: str, type: str) -> Accuracy:
    """Return the accuracy of an operator's outputs of an element type: to the bit, where nothing
    else is said.

    >>> accuracy("GlobalLpPool", "double").ulp, accuracy("MaxPool", "int8").ulp
    (4, 0)
    """
    return ACCURACY.get(op, {}).get(type, _EXACT)
