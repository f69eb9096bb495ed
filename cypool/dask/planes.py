"""Global operators on dask arrays: a partial result for each chunk of a plane, and
these combined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dask.array as da
import numpy as np

import cypool
from cypool.dask.checked import checked, empty
from cypool.dask.sums import Sum, sums
from cypool.plan import Array


def global_average_pool(X: Any, *, opset: int | None = None, threads: int | None = 1) -> Any:
    """Return the mean of every channel, lazily.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.global_average_pool`` takes it. The chunks of a plane give exact
        sums, which are added up.
    opset:
        As for ``cypool.run``.
    threads:
        As for ``cypool.run``, for each chunk: the scheduler computes chunks side by side, so 1 is
        the default.

    Returns
    -------
    dask array
        Shape (N, C, 1, ..., 1), chunks along N and C as X's.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> x = da.from_array(np.array([[[3e38, 3e38], [1e30, -1e30]]], np.float32), chunks=(1, 2, 1))
    >>> cypool.dask.global_average_pool(x).compute()
    array([[[3.e+38],
            [0.e+00]]], dtype=float32)
    """
    return _global("GlobalAveragePool", X, {}, opset, threads, _sums, _total, _means)


def global_lp_pool(X: Any, p: float | None = None, *, opset: int | None = None, threads: int | None = 1) -> Any:
    """Return the p-norm of every channel, lazily.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.global_lp_pool`` takes it. The chunks of a plane give norms in
        float64, of which the norm is taken.
    p:
        As for ``cypool.global_lp_pool``.
    opset, threads:
        As for ``cypool.dask.global_average_pool``.

    Returns
    -------
    dask array
        Shape (N, C, 1, ..., 1), chunks along N and C as X's.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> X = da.from_array(np.array([[[3.0, -4.0]]]), chunks=(1, 1, 1))
    >>> cypool.dask.global_lp_pool(X).compute()
    array([[[5.]]])
    """
    # All norms of a plane at once: each further step would round again.
    return _global("GlobalLpPool", X, {"p": p}, opset, threads, _norms, None, _norm)


def global_max_pool(X: Any, *, opset: int | None = None, threads: int | None = 1) -> Any:
    """Return the largest element of every channel, lazily.

    Parameters
    ----------
    X:
        A dask array, as ``cypool.global_max_pool`` takes it.
    opset, threads:
        As for ``cypool.dask.global_average_pool``.

    Returns
    -------
    dask array
        Shape (N, C, 1, ..., 1), chunks along N and C as X's.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``, at once.

    Examples
    --------
    >>> import dask.array as da, numpy as np, cypool.dask
    >>> X = da.from_array(np.array([[[3.0, -4.0], [-1.0, np.nan]]]), chunks=1)
    >>> cypool.dask.global_max_pool(X).compute()
    array([[[ 3.],
            [nan]]])
    """
    return _global("GlobalMaxPool", X, {}, opset, threads, _plain, _plain, _plain)


Step = Callable[..., Array]
"""Takes a chunk and ``run``, ``dtype`` and ``count`` (elements of a plane); gives an array with 1
for each spatial axis.
"""


def _global(
    op: str,
    X: Any,
    attributes: Mapping[str, Any],
    opset: int | None,
    threads: int | None,
    part: Step,
    combine: Step | None,
    finish: Step,
) -> Any:
    """Return an operator whose window is the plane.

    ``part`` makes a partial result from each chunk of a plane, ``combine`` one from several of
    them, where that loses nothing, and ``finish`` the operator's result from those that are left.
    """
    (x,), call = checked(op, [X], attributes, opset)
    ((dtype, shape),) = call.outputs
    run = partial(cypool.run, op, attributes=dict(call.attributes), opset=opset, threads=threads)
    if all(size == 1 for size in x.numblocks[2:]):
        return x.map_blocks(_plain, run=run, dtype=dtype, chunks=(*x.chunks[:2], *((1,) for _ in shape[2:])), meta=empty(dtype, x.ndim))
    step = partial(partial, run=run, dtype=dtype, count=math.prod(x.shape[2:]))
    return da.reduction(
        x,
        chunk=step(_over_axes, part),
        combine=step(_over_axes, combine) if combine else None,
        aggregate=step(_over_axes, finish),
        axis=tuple(range(2, x.ndim)),
        keepdims=True,
        dtype=dtype,
        meta=empty(dtype, x.ndim),
        split_every=None if combine else math.prod(x.numblocks),
    )


def _over_axes(function: Step, block: Any, *, axis: Any, keepdims: bool, **given: Any) -> Array:
    """Call a step as ``dask.array.reduction`` calls it, with axes that are the spatial
    ones always.
    """
    return function(np.asarray(block), **given)


def _plain(block: Array, *, run: Callable[..., tuple[Array, ...]], **_: Any) -> Array:
    return run([block])[0]


def _norms(block: Array, *, run: Callable[..., tuple[Array, ...]], **_: Any) -> Array:
    return run([block.astype(np.float64)])[0]


def _norm(parts: Array, *, run: Callable[..., tuple[Array, ...]], dtype: np.dtype[Any], **_: Any) -> Array:
    with np.errstate(over="ignore"):  # what rounds to infinity
        return run([parts])[0].astype(dtype)


def _sums(block: Array, **_: Any) -> Array:
    return sums(block).reshape(*block.shape[:2], *(1,) * (block.ndim - 2))


def _total(parts: Array, **_: Any) -> Array:
    found = np.empty(parts.shape[:2], object)
    for place in np.ndindex(found.shape):
        found[place] = sum(parts[place].ravel(), Sum())
    return found.reshape(*found.shape, *(1,) * (parts.ndim - 2))


def _means(parts: Array, *, dtype: np.dtype[Any], count: int, **_: Any) -> Array:
    total = _total(parts)
    means = np.array([one.mean(count) for one in total.ravel()], np.float64)
    return means.reshape(total.shape).astype(dtype)
