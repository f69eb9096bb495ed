"""The arrays that pieces of work are made of.

Apart from the work because every kind of it draws from here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_TILE = 1 << 20


def shape_name(shape: tuple[int, ...]) -> str:
    return ",".join(map(str, shape))


def item_bytes(dtype: str) -> int:
    """Bytes of an element."""
    return int(np.dtype(numpy_type(dtype)).itemsize)


def numpy_type(name: str) -> Any:
    """numpy's type of that name, or ml_dtypes' for bfloat16."""
    if name == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return np.dtype(name)


def normal(shape: tuple[int, ...]) -> Array:
    """Normally distributed float32 values; beyond a million of them they repeat, since drawing
    takes longer than pooling.
    """
    tile = np.random.default_rng(4).standard_normal(min(_TILE, math.prod(shape)), dtype=np.float32)
    return np.resize(tile, shape)


def elements(shape: tuple[int, ...], dtype: str) -> Array:
    """Return these in any type: doubles that no float32 holds, and all integers of a type alike."""
    if dtype.endswith("int8"):
        return (normal(shape) * 2e6).astype("int32").astype(dtype)
    x = normal(shape)
    return x.astype("float64") + x[..., ::-1] * 1e-9 if dtype == "float64" else x.astype(numpy_type(dtype), copy=False)


def laid_out(x: Array, layout: str) -> Array:
    """Return the same values in another order of memory."""
    if layout == "contiguous":
        return x
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
