"""MaxUnpool by its definition: zeros, then each value where its index says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def max_unpool(
    x: Array,
    indices: Array,
    output_shape: Array | None = None,
    *,
    kernel_shape: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    reading: str | None = None,
) -> tuple[Array]:
    """Return the values of x at their positions in the flattened output, the later ones over the
    earlier; all else is zero.

    The output has the shape ``output_shape``, or without it the one that MaxPool with these
    attributes turns into that of x.

    >>> x, indices = np.array([[[5, 6]]], np.float32), np.array([[[1, 2]]])
    >>> max_unpool(x, indices, kernel_shape=(2,), strides=(2,))[0].tolist()
    [[[0.0, 5.0, 6.0, 0.0]]]
    """
    shape = _inferred(x.shape, kernel_shape, strides, pads)
    asked = None if output_shape is None else tuple(int(size) for size in output_shape)
    if asked is None:
        return (_scattered(x, indices, shape),)
    if reading != "placed":
        return (_scattered(x, indices, asked),)
    if min(shape) < 0 or max(indices.reshape(-1).tolist(), default=-1) >= math.prod(shape) or any(np.greater(shape, asked)):
        return (np.zeros(0, x.dtype),)  # that reading has no answer; nothing equals this
    y = np.zeros(asked, x.dtype)
    y[tuple(slice(size) for size in shape)] = _scattered(x, indices, shape)
    return (y,)


def _inferred(
    shape: tuple[int, ...], kernel_shape: tuple[int, ...], strides: tuple[int, ...] | None, pads: tuple[int, ...] | None
) -> tuple[int, ...]:
    rank = len(kernel_shape)
    strides, pads = strides or (1,) * rank, pads or (0,) * (2 * rank)
    sizes = ((shape[2 + i] - 1) * strides[i] + kernel_shape[i] - pads[i] - pads[rank + i] for i in range(rank))
    return (*shape[:2], *sizes)


def _scattered(x: Array, indices: Array, shape: tuple[int, ...]) -> Array:
    y = np.zeros(shape, x.dtype)
    flat = y.reshape(-1)
    for value, index in zip(x.reshape(-1), indices.reshape(-1).tolist(), strict=True):
        flat[index] = value
    return y


READINGS = ("placed",)
"""The other readings that can be computed, by name."""

IN_FLOAT32 = ()
"""The readings that can also be computed of doubles converted to float."""
