"""A function for each pooling operator, its attributes as keywords with ONNX's names.

``ops.run`` does the same for any operator by name; what is here is for people: signatures, and what
they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from cypool.ops import call
from cypool.plan import Array


def global_average_pool(X: Any, *, opset: int | None = None, out: Array | None = None, threads: int | None = None) -> Array:
    """Return the mean of every channel, as if computed exactly and rounded once, also where terms
    cancel or overflow.

    Parameters
    ----------
    X:
        Shape (N, C, D1, ..., Dn), n >= 0, of float16, float32, float64 or (from version 22 on)
        bfloat16.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (N, C, 1, ..., 1) of X's rank and type. A channel without elements gives NaN.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``.

    Notes
    -----
    ONNX operator GlobalAveragePool, versions 1 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> cypool.global_average_pool(np.array([[[3e38, 3e38], [1e30, -1e30]]], np.float32))
    array([[[3.e+38],
            [0.e+00]]], dtype=float32)
    """
    return call("GlobalAveragePool", (X,), (), opset, None, out, threads)[0]


def global_lp_pool(
    X: Any,
    p: float | None = None,
    *,
    opset: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Return the p-norm of every channel: (sum of |x|^p over all spatial elements)^(1/p), as if
    computed exactly and rounded once.

    Parameters
    ----------
    X:
        Shape (N, C, D1, ..., Dn), n >= 0, of float16, float32, float64 or (from version 22 on)
        bfloat16.
    p:
        An integer >= 1, or, before opset 2, any number > 0 (infinity: the largest absolute value).
        None is 2.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (N, C, 1, ..., 1) of X's rank and type. A channel without elements gives 0, one with a
        NaN NaN.

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
    return call("GlobalLpPool", (X,), ("p", p), opset, None, out, threads)[0]


def global_max_pool(X: Any, *, opset: int | None = None, out: Array | None = None, threads: int | None = None) -> Array:
    """Return the largest element of every channel, to the bit.

    Parameters
    ----------
    X:
        Shape (N, C, D1, ..., Dn), n >= 0, of float16, float32, float64 or (from version 22 on)
        bfloat16.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (N, C, 1, ..., 1) of X's rank and type. A channel without elements gives -inf, one
        with a NaN NaN.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``.

    Notes
    -----
    ONNX operator GlobalMaxPool, versions 1 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> cypool.global_max_pool(np.array([[[3.0, -4.0], [-1.0, np.nan]]]))
    array([[[ 3.],
            [nan]]])
    """
    return call("GlobalMaxPool", (X,), (), opset, None, out, threads)[0]


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
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Return the mean of every window, as if computed exactly and rounded once, also where terms
    cancel or overflow.

    Parameters
    ----------
    X:
        Shape (N, C, D1, ..., Dn), n >= 1, of float16, float32, float64 or (from version 22 on)
        bfloat16.
    kernel_shape, strides, pads, auto_pad, dilations, ceil_mode:
        The windows, as for ``cypool.max_pool``; ceil_mode from version 10 on, dilations from
        version 19 on.
    count_include_pad:
        1: the padding counts as zeros; 0: it does not count. What ceil_mode adds beyond the padding
        never counts. From version 7 on. None is 0.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (N, C, O1, ..., On) of X's type. Where nothing counts the mean is NaN.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``.

    Notes
    -----
    ONNX operator AveragePool, versions 1, 7, 10, 11, 19 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> cypool.average_pool(np.array([[[1.0, 2.0, 3.0, 4.0]]]), (3,), pads=(1, 1))
    array([[[1.5, 2. , 3. , 3.5]]])
    >>> X = np.array([[[1.0, 2.0, 3.0, 4.0]]])
    >>> cypool.average_pool(X, (2,), pads=(1, 1), strides=(2,), count_include_pad=1)
    array([[[0.5, 2.5, 2. ]]])
    """
    attributes = (
        *("kernel_shape", kernel_shape, "strides", strides, "pads", pads, "auto_pad", auto_pad),
        *("dilations", dilations, "ceil_mode", ceil_mode, "count_include_pad", count_include_pad),
    )
    return call("AveragePool", (X,), attributes, opset, None, out, threads)[0]


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
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Return the p-norm of every window: (sum of |x|^p)^(1/p), as if computed exactly and rounded
    once.

    Parameters
    ----------
    X:
        Shape (N, C, D1, ..., Dn), n >= 1, of float16, float32, float64 or (from version 22 on)
        bfloat16.
    kernel_shape, strides, pads, auto_pad, dilations, ceil_mode:
        The windows, as for ``cypool.max_pool``; ceil_mode and dilations from version 18 on.
    p:
        An integer >= 1, or, before opset 2, any number > 0 (infinity: the largest absolute value).
        None is 2.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (N, C, O1, ..., On) of X's type. A window without elements gives 0, one with a NaN
        NaN.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``.

    Notes
    -----
    ONNX operator LpPool, versions 1, 2, 11, 18 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> cypool.lp_pool(np.array([[[3.0, -4.0, 0.0, 1e300, 1e300]]]), (2,))
    array([[[5.00000000e+000, 4.00000000e+000, 1.00000000e+300,
             1.41421356e+300]]])
    """
    attributes = (
        *("kernel_shape", kernel_shape, "p", p, "strides", strides, "pads", pads, "auto_pad", auto_pad),
        *("dilations", dilations, "ceil_mode", ceil_mode),
    )
    return call("LpPool", (X,), attributes, opset, None, out, threads)[0]


@overload
def max_pool(
    X: Any,
    kernel_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = ...,
    pads: Sequence[int] | None = ...,
    auto_pad: str | None = ...,
    dilations: Sequence[int] | None = ...,
    ceil_mode: int | None = ...,
    storage_order: int | None = ...,
    return_indices: Literal[False] = ...,
    opset: int | None = ...,
    out: Array | None = ...,
    threads: int | None = ...,
) -> Array: ...
@overload
def max_pool(
    X: Any,
    kernel_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = ...,
    pads: Sequence[int] | None = ...,
    auto_pad: str | None = ...,
    dilations: Sequence[int] | None = ...,
    ceil_mode: int | None = ...,
    storage_order: int | None = ...,
    return_indices: Literal[True],
    opset: int | None = ...,
    out: tuple[Array, Array] | None = ...,
    threads: int | None = ...,
) -> tuple[Array, Array]: ...
@overload
def max_pool(
    X: Any,
    kernel_shape: Sequence[int],
    *,
    strides: Sequence[int] | None = ...,
    pads: Sequence[int] | None = ...,
    auto_pad: str | None = ...,
    dilations: Sequence[int] | None = ...,
    ceil_mode: int | None = ...,
    storage_order: int | None = ...,
    return_indices: bool,
    opset: int | None = ...,
    out: Array | tuple[Array, Array] | None = ...,
    threads: int | None = ...,
) -> Array | tuple[Array, Array]: ...
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
    out: Array | tuple[Array, Array] | None = None,
    threads: int | None = None,
) -> Array | tuple[Array, ...]:
    """Return the largest element of every window, to the bit, and where it stands if that is asked
    for.

    Parameters
    ----------
    X:
        Shape (N, C, D1, ..., Dn), n >= 1, of float16, float32 or float64; from version 12 on int8
        and uint8; from version 22 on bfloat16.
    kernel_shape:
        How many elements a window has along each spatial axis, n integers >= 1.
    strides:
        How far apart windows are, n integers >= 1. None is 1 along each axis.
    pads:
        How many positions are added before each axis, then how many after each, 2 n integers >= 0.
        None is no padding.
    auto_pad:
        NOTSET: ``pads`` decide. VALID: no padding. SAME_UPPER, SAME_LOWER: as much as ceil(D /
        stride) windows need, an odd one after or before. None is NOTSET.
    dilations:
        How far apart the elements of a window are, n integers >= 1. From version 10 on. None is 1
        along each axis.
    ceil_mode:
        1: a window that goes beyond the padded input counts, if it starts in the input or in the
        padding before. From version 10 on. None is 0.
    storage_order:
        Whether Indices count rows (0) or columns (1) first within a plane. From version 8 on. None
        is 0.
    return_indices:
        Whether to return Indices too. From version 8 on.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array, or tuple of two arrays
        Y, shape (N, C, O1, ..., On) of X's type. A window without elements gives -inf, or the
        lowest integer; one with a NaN NaN. Indices, int64 of the same shape: the place of the first
        maximum in the flattened X, -1 for a window without elements.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``.

    Notes
    -----
    ONNX operator MaxPool, versions 1, 8, 10, 11, 12 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> x = np.array([[[[1, 5, 2], [4, 3, 9], [8, 7, 6]]]], np.float32)
    >>> cypool.max_pool(x, (2, 2))
    array([[[[5., 9.],
             [8., 9.]]]], dtype=float32)
    >>> windows = {"strides": (2, 2), "pads": (0, 0, 1, 1)}
    >>> y, indices = cypool.max_pool(x, (2, 2), **windows, return_indices=True)
    >>> indices
    array([[[[1, 5],
             [6, 8]]]])
    """
    attributes = (
        *("kernel_shape", kernel_shape, "strides", strides, "pads", pads, "auto_pad", auto_pad),
        *("dilations", dilations, "ceil_mode", ceil_mode, "storage_order", storage_order),
    )
    outputs = call("MaxPool", (X,), attributes, opset, 2 if return_indices else 1, out, threads)
    return outputs if return_indices else outputs[0]


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
    """Return the maximum of every bin of every region of interest, to the bit.

    Parameters
    ----------
    X:
        Shape (N, C, H, W), of float16, float32, float64 or (from version 22 on) bfloat16.
    rois:
        Shape (num_rois, 5), of X's type: image index, then x1, y1, x2, y2, both corners inside the
        region.
    pooled_shape:
        How many bins a region has: rows, columns.
    spatial_scale:
        A finite number > 0 (taken as float32) that coordinates are multiplied by, to make them
        those of X. None is 1.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (num_rois, C, pooled_shape[0], pooled_shape[1]) of X's type. A bin outside the image
        gives 0, one with a NaN NaN.

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
    return call("MaxRoiPool", (X, rois), attributes, opset, None, out, threads)[0]


def max_unpool(
    X: Any,
    I: Any,  # noqa: E741 - ONNX's name
    kernel_shape: Sequence[int],
    *,
    output_shape: Any = None,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    opset: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Put the elements of X at the places that I names, zeros elsewhere: what ``max_pool`` took,
    put back.

    Parameters
    ----------
    X:
        Shape (N, C, D1, ..., Dn), n >= 1, of float16, float32, float64 or (from version 22 on)
        bfloat16.
    I:
        int64 of X's shape: places in the flattened output. Of elements with the same place the last
        one counts.
    kernel_shape, strides, pads:
        The windows that ``max_pool`` had; without output_shape they give the size of the output,
        (D - 1) * stride + kernel - padding along each axis.
    output_shape:
        The shape of the output, integers or an int64 array of rank 1; N and C are X's. None: as
        above.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Of X's type, of the shape above.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``; a place outside the output is named, and nothing is written then.

    Notes
    -----
    ONNX operator MaxUnpool, versions 9, 11 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> x = np.array([[[[1, 5, 2, 0], [4, 3, 9, 1]]]], np.float32)
    >>> y, indices = cypool.max_pool(x, (2, 2), strides=(2, 2), return_indices=True)
    >>> cypool.max_unpool(y, indices, (2, 2), strides=(2, 2))
    array([[[[0., 5., 0., 0.],
             [0., 0., 9., 0.]]]], dtype=float32)
    """
    if output_shape is not None and not hasattr(output_shape, "dtype"):
        output_shape = np.array(output_shape, np.int64)
    attributes = "kernel_shape", kernel_shape, "strides", strides, "pads", pads
    return call("MaxUnpool", (X, I, output_shape), attributes, opset, None, out, threads)[0]


def roi_align(
    X: Any,
    rois: Any,
    batch_indices: Any,
    *,
    output_height: int | None = None,
    output_width: int | None = None,
    mode: str | None = None,
    sampling_ratio: int | None = None,
    spatial_scale: float | None = None,
    coordinate_transformation_mode: str | None = None,
    opset: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Return the mean, or the maximum, of points that are sampled in every bin of every region of
    interest.

    Parameters
    ----------
    X:
        Shape (N, C, H, W), of float16, float32, float64 or (from version 22 on) bfloat16.
    rois:
        Shape (num_rois, 4), of X's type: x1, y1, x2, y2 of each region.
    batch_indices:
        Shape (num_rois,), int64: the image that each region is on.
    output_height, output_width:
        How many bins a region has, down and across, each >= 1. None is 1.
    mode:
        avg: the mean of a bin's samples, each interpolated between four pixels. max: the largest of
        their pixels, each times its weight. None is avg.
    sampling_ratio:
        How many samples a bin has along each axis; 0: as many as the bin has pixels, rounded up.
        None is 0.
    spatial_scale:
        A finite number > 0 (taken as float32) that coordinates are multiplied by, to make them
        those of X. None is 1.
    coordinate_transformation_mode:
        half_pixel: a pixel's centre is at its index plus a half. output_half_pixel: at its index,
        as in version 10. From version 16 on. None is half_pixel, in version 10 output_half_pixel.
    opset, out, threads:
        As for ``cypool.run``.

    Returns
    -------
    array
        Shape (num_rois, C, output_height, output_width) of X's type.

    Raises
    ------
    cypool.SpecValueError, cypool.SpecTypeError
        As for ``cypool.run``; an image index or coordinate out of range is named by its row.

    Notes
    -----
    ONNX operator RoiAlign, versions 10, 16 and 22.

    Examples
    --------
    >>> import numpy as np, cypool
    >>> x = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> rois, batch_indices = np.array([[0.5, 0.5, 2.5, 2.5]], np.float32), np.array([0])
    >>> cypool.roi_align(x, rois, batch_indices, sampling_ratio=1)
    array([[[[6.]]]], dtype=float32)
    >>> cypool.roi_align(x, rois, batch_indices, sampling_ratio=1, opset=10)
    array([[[[8.5]]]], dtype=float32)
    """
    attributes = (
        *("output_height", output_height, "output_width", output_width, "mode", mode, "sampling_ratio", sampling_ratio),
        *("spatial_scale", spatial_scale, "coordinate_transformation_mode", coordinate_transformation_mode),
    )
    return call("RoiAlign", (X, rois, batch_indices), attributes, opset, None, out, threads)[0]
