"""Norms to some 12 digits, far enough from what the oracle does, and whether two of them are told
apart.
"""

from __future__ import annotations

import math

import numpy as np

from cypool.conformance.cases.draws import Array
from cypool.conformance.oracle.rounding import FORMATS


def estimate(rows: Array, p: float) -> Array:
    """Return the roots of the sums of powers to about 12 digits, far enough from what the oracle
    does; of signed ones NaN where there is none.
    """
    wide = rows.astype(np.float64)
    top = np.abs(wide).max(axis=1, initial=0.0)
    with np.errstate(all="ignore"):
        sums = np.power(wide / np.where(top, top, 1.0)[:, None], p).sum(axis=1)
        estimate = top if math.isinf(p) else np.where(top, top * np.power(sums, 1 / p), 0.0)
        return np.asarray(estimate).astype(rows.dtype)


def far_apart(a: Array, b: Array) -> bool:
    """Tell whether any tolerance in use would tell the two apart."""
    step = 2.0 ** FORMATS[b.dtype].least
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        return bool((~(np.abs(wide_a - wide_b) <= 2.0**-5 * wide_b + 2 * step) & (wide_a != wide_b)).any())
