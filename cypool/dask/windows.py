"""Operators over windows on dask arrays: a chunk of the output is computed from that part of the
input which its windows cover.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

import cypool
from cypool.dask.checked import checked, empty, whole_planes
from cypool.plan import Array
from cypool.spec.windows import Axis


class Part(NamedTuple):
    """Neighbouring windows along an axis: how many, the part of the input that they see, and the
    padding around that.
    """

    windows: int
    start: int
    stop: int
    before: int
    after: int
    overhangs: bool  # whether the last window goes beyond the padded input, as ceil_mode lets it
    is_past: bool  # whether the last window starts after what they see, where ceil_mode would leave it out


def average_pool(
    X: Any,
    kernel_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int | None = None,
    count_include_pad: int | None = None,
    opset: int | None = None,
    threads: int | None = 1,
) -> Any:
    """Return the mean of every window, lazily.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.average_pool`` takes it.
    kernel_shape, strides, pads, auto_pad, dilations, ceil_mode, count_include_pad:
        As for ``cypool.average_pool``.
    opset, threads:
        As for ``cypool.dask.global_average_pool``.

    Returns
    -------
    dask array
        Shape (N, C, O1, ..., On), chunks as for ``cypool.dask.max_pool``.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> x = da.from_array(np.array([[[1.0, 2.0, 3.0, 4.0]]]), chunks=(1, 1, 2))
    >>> cypool.dask.average_pool(x, (3,), pads=(1, 1)).compute()
    array([[[1.5, 2. , 3. , 3.5]]])
    """
    attributes = {
        "kernel_shape": kernel_shape,
        "strides": strides,
        "pads": pads,
        "auto_pad": auto_pad,
        "dilations": dilations,
        "ceil_mode": ceil_mode,
        "count_include_pad": count_include_pad,
    }
    return _windowed("AveragePool", X, attributes, opset, threads)[0]


def lp_pool(
    X: Any,
    kernel_shape: Sequence[int],
    p: float | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int | None = None,
    opset: int | None = None,
    threads: int | None = 1,
) -> Any:
    """Return the p-norm of every window, lazily.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.lp_pool`` takes it.
    kernel_shape, p, strides, pads, auto_pad, dilations, ceil_mode:
        As for ``cypool.lp_pool``.
    opset, threads:
        As for ``cypool.dask.global_average_pool``.

    Returns
    -------
    dask array
        Shape (N, C, O1, ..., On), chunks as for ``cypool.dask.max_pool``.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> cypool.dask.lp_pool(da.from_array(np.array([[[3.0, -4.0, 0.0]]]), chunks=1), (2,)).compute()
    array([[[5., 4.]]])
    """
    attributes = {
        "kernel_shape": kernel_shape,
        "p": p,
        "strides": strides,
        "pads": pads,
        "auto_pad": auto_pad,
        "dilations": dilations,
        "ceil_mode": ceil_mode,
    }
    return _windowed("LpPool", X, attributes, opset, threads)[0]


def max_pool(
    X: Any,
    kernel_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int | None = None,
    storage_order: int | None = None,
    return_indices: bool = False,
    opset: int | None = None,
    threads: int | None = 1,
) -> Any:
    """Return the largest element of every window, lazily, and where it stands if that is asked for.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.max_pool`` takes it.
    kernel_shape, strides, pads, auto_pad, dilations, ceil_mode, storage_order, return_indices:
        As for ``cypool.max_pool``. Indices count in all of X, however it is cut.
    opset, threads:
        As for ``cypool.dask.global_average_pool``.

    Returns
    -------
    dask array, or tuple of two dask arrays
        Shape (N, C, O1, ..., On). Chunks along N and C are X's. Along spatial axes, windows that
        start in one chunk of X are one chunk of the result; those that start in the padding belong
        to the chunk next to it.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> x = da.from_array(np.array([[[1, 5, 2, 4, 3, 9]]], np.float32), chunks=(1, 1, 4))
    >>> y, indices = cypool.dask.max_pool(x, (3,), return_indices=True)
    >>> y.chunks[2], indices.compute()
    ((4,), array([[[1, 1, 3, 5]]]))
    """
    attributes = {
        "kernel_shape": kernel_shape,
        "strides": strides,
        "pads": pads,
        "auto_pad": auto_pad,
        "dilations": dilations,
        "ceil_mode": ceil_mode,
        "storage_order": storage_order,
    }
    outputs = _windowed("MaxPool", X, attributes, opset, threads, 2 if return_indices else 1)
    return outputs if return_indices else outputs[0]


def parts(axis: Axis, sizes: Sequence[int]) -> Iterator[Part]:
    """Yield the windows of an axis in parts: those that start in one chunk of the input, together.

    Windows that start in the padding before are with those of the first chunk, those that start
    beyond the input with those of the last.

    >>> list(parts(Axis(6, 6, -1, 1, 3, 1, 7), (3, 3)))  # doctest: +NORMALIZE_WHITESPACE
    [Part(windows=4, start=0, stop=5, before=1, after=0, overhangs=False, is_past=False),
     Part(windows=2, start=3, stop=6, before=0, after=1, overhangs=False, is_past=False)]
    """
    ends = [*itertools.accumulate(sizes)][:-1]
    bounds = [0, *(min(max(-(-(end - axis.first) // axis.stride), 0), axis.count) for end in ends), axis.count]
    extent = (axis.taps - 1) * axis.dilation + 1
    for one, other in itertools.pairwise(bounds):
        if one == other:
            continue
        begin = axis.first + one * axis.stride
        end = axis.first + (other - 1) * axis.stride + extent
        start = min(max(begin, 0), axis.size)
        stop = max(min(end, axis.size), start)
        before = max(start - begin, 0)
        overhangs = end > axis.padded
        after = max((axis.padded if overhangs else end) - max(stop, begin), 0)
        is_past = (other - one - 1) * axis.stride >= stop - start + before
        yield Part(other - one, start, stop, before, after, overhangs, is_past)


def _windowed(op: str, X: Any, attributes: dict[str, Any], opset: int | None, threads: int | None, outputs: int = 1) -> tuple[Any, ...]:
    """Return the outputs of an operator whose windows follow from attributes."""
    (x,), call = checked(op, [X], attributes, opset, outputs=outputs)
    splits = [list(parts(axis, sizes)) for axis, sizes in zip(call.axes, x.chunks[2:], strict=True)]
    forms = [(dtype, shape, empty(dtype, x.ndim)) for dtype, shape in call.outputs]
    if not all(splits):  # no window at all
        return tuple(da.zeros(shape, dtype=dtype, chunks=(*x.chunks[:2], *shape[2:])) for dtype, shape, _ in forms)
    kept = {name: value for name, value in call.attributes.items() if name not in ("auto_pad", "pads", "ceil_mode")}
    blocks = np.empty([len(split) for split in splits], object)
    for place in np.ndindex(blocks.shape):
        here = [split[i] for split, i in zip(splits, place, strict=True)]
        rounds_up = any(part.overhangs for part in here)
        # ceil_mode is for all axes. Where a window would be left out, one more position makes it
        # that an additional one is.
        after = tuple(part.after + (rounds_up and part.is_past) for part in here)
        given = kept | {"pads": (*(part.before for part in here), *after)} | ({"ceil_mode": 1} if rounds_up else {})
        run = partial(cypool.run, op, attributes=given, opset=opset, outputs=outputs, threads=threads)
        seen = whole_planes(x[(slice(None), slice(None), *(slice(part.start, part.stop) for part in here))])
        chunks = (*x.chunks[:2], *((part.windows,) for part in here))
        corner = tuple(part.start for part in here)
        computed = partial(_block, run=run, shape=x.shape, corner=corner, column_major=bool(given.get("storage_order", 0)))
        if outputs == 1:
            blocks[place] = [seen.map_blocks(computed, dtype=forms[0][0], chunks=chunks, meta=forms[0][2])]
            continue
        pairs = seen.map_blocks(computed, dtype=object, chunks=chunks, meta=empty(np.dtype(object), x.ndim))  # a chunk is a tuple of arrays
        blocks[place] = [
            pairs.map_blocks(operator.itemgetter(i), dtype=dtype, chunks=chunks, meta=meta) for i, (dtype, _, meta) in enumerate(forms)
        ]
    return tuple(_assembled(blocks, output, ()) for output in range(outputs))


def _assembled(blocks: Array, output: int, place: tuple[int, ...]) -> Any:
    """Return the blocks of an output put together, one axis after the other."""
    axis = len(place)
    if axis == blocks.ndim:
        return blocks[place][output]
    return da.concatenate([_assembled(blocks, output, (*place, i)) for i in range(blocks.shape[axis])], axis=2 + axis)


def _block(
    block: Array,
    *,
    run: Callable[..., tuple[Array, ...]],
    shape: tuple[int, ...],
    corner: tuple[int, ...],
    column_major: bool,
    block_info: Any = None,
) -> Array | tuple[Array, ...]:
    """Return the operator's only output on a part of the input, or the two of MaxPool, with indices
    into an array of ``shape``.
    """
    y, *rest = run([block])
    if not rest:
        return y
    start = (*(first for first, _ in block_info[0]["array-location"][:2]), *corner)
    return y, _moved(rest[0], block.shape, shape, start, column_major)


def _moved(indices: Array, block: tuple[int, ...], shape: tuple[int, ...], corner: tuple[int, ...], column_major: bool) -> Array:
    """Return indices into a block as indices into the whole array; -1 stays."""
    if 0 in block:  # all are -1
        return indices
    order = (0, 1, *(range(len(shape) - 1, 1, -1) if column_major else range(2, len(shape))))
    sizes, whole = [block[axis] for axis in order], [shape[axis] for axis in order]
    places = np.unravel_index(np.maximum(indices, 0), sizes)
    moved = np.ravel_multi_index(tuple(place + corner[axis] for place, axis in zip(places, order, strict=True)), whole)
    return np.where(indices < 0, indices, moved)
