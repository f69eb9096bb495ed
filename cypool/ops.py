"""The functions people call: one a pooling operator, and ``run`` for any operator by name.

Apart from the layers below because this is the whole of their order: spec, plan, geometry, dispatch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from cypool import calls, dispatch, geometry, plan
from cypool.plan import Array


def run(
    op: str,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any] | None = None,
    *,
    opset: int | None = None,
    outputs: int | None = None,
    out: Array | tuple[Array, ...] | None = None,
    threads: int | None = None,
) -> tuple[Array, ...]:
    """Run an operator of any version on arrays.

    Parameters
    ----------
    op:
        ONNX's name of the operator; ``cypool.spec.operators()`` lists them.
    inputs:
        A list of the operator's inputs in ONNX's order: numpy arrays, or anything numpy can view without a copy (DLPack on the CPU,
        ``__array__``, buffers); bfloat16 as numpy arrays of ml_dtypes' type. Any layout; contiguous ones are fastest.
        None stands for an optional input that is left out; those at the end need not be named.
    attributes:
        By ONNX's names; absent ones, and those given as None, take their default.
    opset:
        The opset of a model, which decides the operator's version; None is the newest version.
    outputs:
        How many outputs are wanted, the first ones of those that the version has. None: those that are not optional.
    out:
        An array of the output's shape and type to write to, or a tuple of such arrays, one for each output; None makes them.
    threads:
        How many threads to use, at least 1. None: OMP_NUM_THREADS if set, else what affinity and control group allow; one for small
        work.

    Returns
    -------
    tuple of arrays
        The outputs, as many as are wanted.

    Raises
    ------
    cypool.SpecValueError
        A value, shape, attribute or opset that the version does not allow. It is a ValueError.
    cypool.SpecTypeError
        A type that the version does not allow. It is a TypeError.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> (y,) = cypool.run("GlobalLpPool", [np.array([[[3.0, -4.0]]])], {"p": 2}, opset=21)
    >>> y
    array([[[5.]]])
    """
    given = plan.attributes_of(op, opset, attributes)
    return _run(op, plan.inputs_of(op, opset, inputs), tuple(chain.from_iterable(given.items())), opset, outputs, out, threads)


def _prepare(
    op: str, opset: int | None, attributes: Mapping[str, Any], inputs: Sequence[Array | None], outputs: int | None
) -> tuple[plan.Signature, dispatch.Launch]:
    """Return all that follows from a call before its arrays are read."""
    call = plan.signature(op, opset, attributes, inputs, outputs)
    work = geometry.work(call)
    return call, dispatch.LAUNCHES[work.kernel](call.inputs, call.outputs, *work.numbers)


_run = calls.Calls(_prepare).run


def global_lp_pool(
    X: Any,
    p: float | None = None,
    *,
    opset: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The p-norm of every channel: (sum of |x|^p over all spatial elements)^(1/p), as if computed exactly and rounded once.

    Parameters
    ----------
    X:
        Shape (N, C, D1, ..., Dn), n >= 0, of float16, float32, float64 or (from version 22 on) bfloat16.
    p:
        An integer >= 1, or, before opset 2, any number > 0 (infinity: the largest absolute value). None is 2.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (N, C, 1, ..., 1) of X's rank and type. A channel without elements gives 0, one with a NaN NaN.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``.

    Notes
    -----
    ONNX operator GlobalLpPool, versions 1, 2 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> cypool.global_lp_pool(np.array([[[3.0, -4.0], [1e300, 1e300]]], dtype=np.float64))
    array([[[5.00000000e+000],
            [1.41421356e+300]]])
    """
    return _run("GlobalLpPool", (X,), ("p", p), opset, None, out, threads)[0]


def max_roi_pool(
    X: Any,
    rois: Any,
    pooled_shape: Sequence[int],
    spatial_scale: float | None = None,
    *,
    opset: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The maximum of every bin of every region of interest, to the bit.

    Parameters
    ----------
    X:
        Shape (N, C, H, W), of float16, float32, float64 or (from version 22 on) bfloat16.
    rois:
        Shape (num_rois, 5), of X's type: image index, then x1, y1, x2, y2, both corners inside the region.
    pooled_shape:
        How many bins a region has: rows, columns.
    spatial_scale:
        A finite number > 0 (taken as float32) that coordinates are multiplied by, to make them those of X. None is 1.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (num_rois, C, pooled_shape[0], pooled_shape[1]) of X's type. A bin outside the image gives 0, one with a NaN NaN.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``; an image index or coordinate out of range is named by its row.

    Notes
    -----
    ONNX operator MaxRoiPool, versions 1 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> x = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
    >>> rois = np.array([[0, 0, 0, 7, 7]], dtype=np.float32)
    >>> cypool.max_roi_pool(x, rois, pooled_shape=(2, 2))
    array([[[[27., 31.],
             [59., 63.]]]], dtype=float32)
    """
    attributes = "pooled_shape", pooled_shape, "spatial_scale", spatial_scale
    return _run("MaxRoiPool", (X, rois), attributes, opset, None, out, threads)[0]
