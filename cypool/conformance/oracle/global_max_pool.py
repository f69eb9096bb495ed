"""GlobalMaxPool by its definition: the largest element of each channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from cypool.conformance.oracle.maxima import bounds, largest, numbers

Array = np.ndarray[Any, np.dtype[Any]]


def global_max_pool(x: Array, *, reading: str | None = None) -> tuple[Array]:
    """One value a channel, the maximum of all its spatial elements: (N, C, D1, ...) to (N, C, 1,
    ...).

    >>> global_max_pool(np.array([[[3.0, -4.0]]], np.float32))
    (array([[[3.]]], dtype=float32),)
    """
    readings = frozenset(reading.split("+")) if reading else frozenset()
    y = np.empty(x.shape[:2] + (1,) * (x.ndim - 2), x.dtype)
    for at in np.ndindex(x.shape[:2]):
        y[at] = largest(numbers(x[at]), bounds(x.dtype), readings)[0]
    return (y,)


READINGS = (
    *("never", "only-alone", "restart", "lowest-finite", "nan", "lowest-start"),
    *("never+lowest-start", "only-alone+lowest-start", "restart+lowest-start"),
)
"""The other readings that can be computed, by name, and several at once, their names joined by
``+``.
"""

IN_FLOAT32 = ("", "never", "only-alone", "lowest-start", "never+lowest-start", "only-alone+lowest-start")
"""The readings (none: as ruled) that can also be computed of doubles converted to float."""
