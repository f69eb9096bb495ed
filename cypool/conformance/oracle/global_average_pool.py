"""GlobalAveragePool by its definition: the mean of each channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from cypool.conformance.oracle.mean import mean, plain, precision
from cypool.conformance.oracle.rounding import FORMATS

Array = np.ndarray[Any, np.dtype[Any]]


def global_average_pool(x: Array, *, reading: str | None = None) -> tuple[Array]:
    """One value a channel, the mean of all its spatial elements: (N, C, D1, ...) to (N, C, 1, ...).

    >>> global_average_pool(np.array([[[3.0, -4.0]]], np.float32))
    (array([[[-0.5]]], dtype=float32),)
    """
    y = np.empty(x.shape[:2] + (1,) * (x.ndim - 2))
    for plane in np.ndindex(x.shape[:2]):
        elements = x[plane].astype(np.float64).reshape(-1).tolist()
        if reading in ("naive", "narrow") and elements:
            y[plane] = plain(elements, len(elements), precision(x.dtype, reading == "narrow"))
        elif reading == "zero" and not elements:
            y[plane] = 0
        else:
            y[plane] = mean(elements, len(elements), FORMATS[x.dtype])
    with np.errstate(over="ignore"):
        return (y.astype(x.dtype),)


READINGS = ("naive", "narrow", "zero")
"""The other readings that can be computed, by name."""

IN_FLOAT32 = ("", "naive", "zero")
"""The readings (none: as ruled) that can also be computed of doubles converted to float."""
