"""Check calls on dask arrays, from types and shapes alone: nothing is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np

from cypool import plan, spec
from cypool.errors import SpecTypeError, SpecValueError
from cypool.plan import Array, Signature


def checked(
    op: str,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    opset: int | None,
    *,
    outputs: int | None = None,
    stated: Any = None,
) -> tuple[list[Any], Signature]:
    """Return the inputs as dask arrays and the signature of the call, or raise the error that the
    plain function would raise.

    ``stated`` is a last input, whose values are a shape and so are read at once.
    """
    lazy = [_as_dask(op, opset, place, value) for place, value in enumerate(inputs)]
    stand_ins: list[Array | None] = [_stand_in(op, opset, place, array) for place, array in enumerate(lazy)]
    if stated is not None:
        stand_ins += plan.arrays(op, opset, [None] * len(inputs) + [stated])[-1:]
    return lazy, plan.signature(op, opset, attributes, stand_ins, outputs)


def empty(dtype: np.dtype[Any], rank: int) -> Array:
    """Return what tells dask the kind of array that chunks are: one without elements."""
    return np.empty((0,) * rank, dtype)


def whole_planes(array: Any) -> Any:
    """Return the array with each plane in one chunk; chunks along N and C stay."""
    return array.rechunk(dict.fromkeys(range(2, array.ndim), -1))


def _as_dask(op: str, opset: int | None, place: int, value: Any) -> Any:
    """Return a dask array: the one given, or one of a single chunk on the memory of
    another array.
    """
    if isinstance(value, da.Array):
        plan.arrays(op, opset, [None] * place + [value._meta])  # refuses masked arrays
        return value
    if dask.is_dask_collection(value):
        raise SpecTypeError(f"{_name(op, opset, place)} is a {type(value).__name__} on dask, expected a dask array, such as its .data")
    (*_, array) = plan.arrays(op, opset, [None] * place + [value])
    return da.from_array(array, chunks=-1)


def _stand_in(op: str, opset: int | None, place: int, array: Any) -> Array:
    """Return an array of zeros of the same type and shape, which takes no memory."""
    if any(size != size for size in array.shape):  # NaN, which is dask's word for unknown
        raise SpecValueError(
            f"{_name(op, opset, place)} has shape {array.shape}, expected known sizes of chunks, as compute_chunk_sizes() finds them"
        )
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _name(op: str, opset: int | None, place: int) -> str:
    """Name an input in an error: operator-version and operand."""
    version = spec.resolve(op, opset)
    return f"{version.name}: {version.inputs[place].name}"
